/** Bundles the program, its client and its pages with rolldown, in memory. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { build } from 'rolldown'
import { installedBeside } from './installed-beside.mjs'

const { version } = JSON.parse(await readFile('package.json', 'utf8'))
const { dependencies, optionalDependencies } = installedBeside(JSON.parse(await readFile('package-lock.json', 'utf8')))
/** Native modules, and optional native parts that their packages work without. */
const NATIVE = [
  ...Object.keys({ ...dependencies, ...optionalDependencies }).map((name) => new RegExp(`^${name}(/|$)`)),
  /^(pg-native|bufferutil|utf-8-validate)$/,
  /^(\.\/litesvm\.|litesvm-)/,
  // Installed by those who sign with a Ledger.
  /^@ledgerhq\//,
]
const ALIASES = {
  // Its main file warns when its native part is missing. This file has the same functions without that part.
  'bigint-buffer': resolve('node_modules/bigint-buffer/dist/browser.js'),
  // Its licence is the LGPL. Only subscriptions of `Connection` need it, and the program has its own socket for them.
  'rpc-websockets': resolve('tools/build/no-rpc-websockets.mjs'),
}
/** Only the English messages of zod are used. */
const englishOnly = {
  name: 'english-only',
  load: {
    filter: { id: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ },
    handler: () => "export { default as en } from './en.js'",
  },
}

/**
 * Every file that is bundled: `path` in dist/, `code`, `modules` by their path, and `isEntry` if its name never
 * changes.
 */
export async function bundles() {
  const program = await bundledProgram({
    svc: 'bin/svc.ts',
    'merkle-worker': 'src/merkle/worker.ts',
    'chain-worker': 'src/localnet/worker.ts',
    'jq-worker': 'commands/ui/jq-worker.ts',
    'grind-worker': 'commands/tokens/grind-worker.ts',
  })
  const single = await Promise.all([
    oneFile('src/client.ts', 'client.mjs'),
    oneFile('src/claim-page/browser/claim.ts', 'claim-page/claim.js', { platform: 'browser', minify: true }),
    oneFile('src/claim-page/browser/verify.ts', 'claim-page/verify.js', { platform: 'browser', minify: true }),
    oneFile('src/claim-page/browser/raise/raise.ts', 'raise-page/raise.js', { platform: 'browser', minify: true }),
    oneFile('src/console-page/console.ts', 'console/console.js', { platform: 'browser', minify: true }),
    oneFile('src/console-page/chart.ts', 'console/chart.js', { platform: 'browser', minify: true }),
    oneFile('src/passport-page/passport.ts', 'passport-page/passport.js', { platform: 'browser', minify: true }),
    oneFile('src/reference-page/page.ts', 'docs/page.js', { platform: 'browser', minify: true, format: 'iife' }),
  ])
  return [...program, ...single]
}

/** CommonJS, which Node starts faster than ES modules, in chunks that are read when they are needed. */
export async function bundledProgram(input) {
  const { output } = await build({
    input,
    platform: 'node',
    external: NATIVE,
    resolve: { alias: ALIASES },
    transform: { target: 'node20.19', define: { 'process.env.SVC_VERSION': JSON.stringify(version) } },
    plugins: [englishOnly],
    logLevel: 'warn',
    write: false,
    output: { format: 'cjs', strict: true, exports: 'named', comments: false, chunkFileNames: '[name]-[hash].js' },
  })
  return output.map(bundled)
}

async function oneFile(input, path, { platform = 'neutral', format = 'esm', minify = false } = {}) {
  const { output } = await build({
    input,
    platform,
    transform: { target: 'es2022' },
    logLevel: 'warn',
    write: false,
    output: { format, minify, comments: false, codeSplitting: false, entryFileNames: path },
  })
  return bundled(output[0])
}

const bundled = ({ fileName: path, code, modules, isEntry }) => ({ path, code, modules, isEntry })
