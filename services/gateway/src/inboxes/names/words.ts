/**
 * Words of generated usernames. Chosen by hand: neutral in every combination, no names of people, peoples or brands.
 */
export const ADJECTIVES = words(`
  able agile amber ample arctic autumn azure balmy bold brave breezy bright brisk calm candid civic clear clever
  coastal copper coral cosmic crisp curious daring dawn deep deft distant dotted eager early earnest eastern easy
  elder emerald evening even fair famous fast fleet floral fluent fond fresh frosty gentle gilded glad golden graceful
  grand green happy hardy hazel hidden honest humble indigo inland ivory jade jolly jovial keen kind leafy level light
  lively lofty loyal lucid lucky lunar mellow merry mighty mild mindful misty modest morning neat nimble noble northern
  olive open orderly patient pearl placid plain playful polar polite prime proud quick quiet radiant rapid ready regal
  robust rosy royal ruby rural rustic sable sandy scenic serene shady sharp silent silver simple sincere smooth snowy
  solar solid sound southern spry stable starry steady stellar still stout subtle summer sunny sure swift tidal tidy
  timely tranquil true trusty upbeat urban valiant velvet verdant vernal vital vivid warm western willing winter wise
  witty worthy young zesty
`)

export const NOUNS = words(`
  acorn anchor apple arbor arch atlas aurora badge bamboo basin bay beacon birch bloom boulder breeze bridge brook
  cabin canal canopy canyon cape cedar channel circle citrus clover cloud coast comet compass copse cove crane creek
  crest crystal current dale delta desert dune dusk echo elm ember falcon fern field finch fjord flame flint forest
  fountain frost galaxy garden gate geyser glacier glade glen gorge grove gull harbor harvest haven hawk heath heron
  hill horizon island ivy jasmine juniper kestrel kite lagoon lake lantern larch lark laurel lavender leaf ledge lily
  linden lodge lotus lynx maple marble marsh meadow mesa meteor mill mint mist moon moss mountain nebula nest oak oasis
  ocean orchard orchid otter owl palm parade pasture path pebble pine planet plateau plaza pond poplar prairie prism
  quarry quartz quill rain rapids raven reed reef ridge river robin rose saffron sage sail sequoia shore signal sky
  slope snow sparrow spring spruce star stone stream summit swan thicket thistle tide timber trail tulip
  tundra valley vista walnut water wave willow wind wren
`)

function words(text: string): readonly string[] {
  return text.split(/\s+/).filter(Boolean)
}
