/** A property as jCal has it (RFC 7265): name, parameters, type, values. */
export type Property = readonly [
  name: string,
  parameters: Readonly<Record<string, string | readonly string[]>>,
  type: string,
  ...values: unknown[],
]

/** A component as jCal has it. */
export type Component = readonly [name: string, properties: readonly Property[], components: readonly Component[]]

export function componentsOf([, , components]: Component, name: string): Component[] {
  return components.filter((component) => component[0] === name)
}

export function propertiesOf([, properties]: Component, name: string): Property[] {
  return properties.filter((property) => property[0] === name)
}

/** The first property of a name. */
export function propertyOf(component: Component, name: string): Property | undefined {
  return propertiesOf(component, name)[0]
}

/** The first value of a property, when it is a text. */
export function textOf(component: Component, name: string): string | undefined {
  const value = propertyOf(component, name)?.[3]
  return typeof value === 'string' ? value : undefined
}

/** A parameter; of several values the first. */
export function parameterOf([, parameters]: Property, name: string): string | undefined {
  const value = parameters[name]
  return typeof value === 'string' ? value : value?.[0]
}

export function valuesOf(property: Property): unknown[] {
  return property.slice(3)
}
