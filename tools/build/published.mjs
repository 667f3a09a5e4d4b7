// The manifests of the two packages that are published: the command line, and the typed client alone.
import { installedBeside, lockedBeside } from './installed-beside.mjs'

/** Fields of the clone's manifest that mean nothing, or something else, in an installed package. */
const OWN = ['scripts', 'devDependencies', 'overrides', 'allowScripts']
/** Fields that both packages have in common. */
const SHARED = ['version', 'license', 'repository', 'homepage', 'bugs', 'type', 'publishConfig']

/** The manifest of the command line, and the shrinkwrap beside it. */
export function cliPackage(clone, lock) {
  const own = Object.entries(clone).filter(([field]) => !OWN.includes(field))
  const manifest = { ...Object.fromEntries(own), ...installedBeside(lock) }
  const { files: _, exports: __, ...root } = manifest
  return { manifest, shrinkwrap: { ...lock, packages: { '': root, ...lockedBeside(lock) } } }
}

/** The manifest of the typed client, which depends on nothing. */
export function clientPackage(clone) {
  return {
    name: '@svc-launch/client',
    description: 'The typed client of the HTTP API of svc, for browsers and Node.js',
    keywords: ['solana', 'svc', 'api-client', 'token-launch', 'airdrop'],
    ...Object.fromEntries(SHARED.map((field) => [field, clone[field]])),
    engines: { node: '>=20' },
    sideEffects: false,
    exports: {
      '.': { types: './client.d.mts', default: './client.mjs' },
      './package.json': './package.json',
    },
    files: ['client.mjs', 'client.d.mts'],
  }
}
