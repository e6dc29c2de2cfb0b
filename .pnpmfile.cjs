// @prisma/client names the prisma command line and TypeScript as optional peers. The root package has both, so pnpm would
// install them beside the client everywhere, in production too: 195 MB that the generated client never loads.
module.exports = {
  hooks: {
    readPackage(manifest) {
      if (manifest.name === '@prisma/client') {
        manifest.peerDependencies = {}
        manifest.peerDependenciesMeta = {}
      }
      return manifest
    },
  },
}
