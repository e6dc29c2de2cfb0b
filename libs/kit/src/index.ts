export { missingAmong, missingBytes, orphansCheck } from './checks/bytes.ts'
export { checkHandler } from './checks/handler.ts'
export * from './configuration/blocks.ts'
export { clamdVariables } from './configuration/clamd.ts'
export { databaseVariables } from './configuration/common.ts'
export {
  type Block,
  type ConfigOf,
  Configuration,
  configurationOf,
  type FrameConfiguration,
  frameConfigurationOf,
  type ServiceConfiguration,
  together,
} from './configuration/configuration.ts'
export { type DescribedVariable, describeVariables } from './configuration/described.ts'
export { type Operator, operatorOf, operatorVariables } from './configuration/operator.ts'
export { type PeerAddress, Peers, peersOf, peerVariables } from './configuration/peers.ts'
export { defineService, defineStatelessService, runService, type ServiceDefinition } from './define-service.ts'
export { Frame, type ListenOptions, type ServeOptions } from './frame.ts'
export { Kit, type KitOf } from './kit.ts'
