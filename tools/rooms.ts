/**
 * The rooms of the source and what each may import. `test/architecture.test.ts` checks it; docs/architecture.md shows
 * it.
 */

/** The rooms, with one sentence each in Markdown. A file belongs to the first of them that its path begins with. */
export const ROOMS = {
  tools: 'what builds, generates and checks the repository',
  bin: 'the executable: argv → command → exit code; joins commands to the daemon',
  'commands/machine': "this machine's own files: wallets, doctor, database, embedded chain, storage",
  commands:
    'a folder or file for each noun; `cli/` is what they share, `signing/` signs, `lists/` works through lists, `ui/` renders',
  'daemon/console':
    'the pages for operators at /console, rendered on the server: they ask the routes of the API, with the rights of a session',
  daemon: 'app, pipeline, routes (mounted from the registry, and a few others), workers, listening and stopping',
  'src/operations':
    'what the product does: the verbs of each noun; `building.ts` frames every verb that builds a transaction, and `projection.ts` of a noun says what confirmed transactions did to it',
  'src/following': 'from confirmed transactions to records and events, through the projections of the nouns',
  'src/policy': 'what may leave a wallet: computes what a transaction moves, and checks it against the rules',
  'src/chain': 'the node: `reads/`, `sending/`, `nodes/`, `signer/`, and a folder for each program below `programs/`',
  'src/store': 'Kysely over both databases, a folder for each family of tables; the only room with queries',
  'src/storage': 'token images and metadata: checked, stored, delegated, served',
  'src/localnet': 'the embedded chain: LiteSVM behind the `fetch` of a Connection and as a JSON-RPC server',
  'src/merkle': 'lists, trees, proofs, and the allocation of a total to holders: pure functions over bytes',
  'src/claim-page/site': 'the files of a claim page: rows, index, settings',
  'src/claim-page/browser':
    'the claim page in a browser: finds a wallet, checks its proof, sends and follows the claim',
  'src/console-page': 'script and style of the console in a browser, and its charts',
  'src/passport-page': 'the passport of a token in a browser: reads the chain, and proves each fact',
  'src/reference-page': 'the API reference in a browser, around Swagger UI',
  'src/api': 'the contract as data: zod schemas and routes',
  'src/client.ts': '`client.pools.create(input)` over any transport',
  'src/context.ts': 'what every operation receives: configuration, log, clock, chain, store, storage',
  'src/solana': 'the base of the other rooms, pure: addresses, messages, signatures, fees, accounts, instructions',
  'src/settings': 'every setting as data, the source of its value, and how secrets are hidden',
  'src/platform': 'files, locks, native modules, time, urls, version, log, errors, traces',
} as const

export type Room = keyof typeof ROOMS
export const ROOM_PATHS = Object.keys(ROOMS) as Room[]

export interface Rule {
  rooms: readonly Room[]
  /** Rooms whose values and types may be imported. */
  value: readonly Room[]
  /** Rooms from which only types may be imported. */
  type?: readonly Room[]
  /** Rooms that may be loaded with `import()`, and whose types may be imported. */
  lazy?: readonly Room[]
}

const GROUND: readonly Room[] = ['src/solana', 'src/settings', 'src/platform']
const IN_BROWSERS: readonly Room[] = [
  'src/claim-page/browser',
  'src/console-page',
  'src/passport-page',
  'src/reference-page',
]

export const RULES: readonly Rule[] = [
  { rooms: ['tools'], value: ROOM_PATHS },
  { rooms: ['bin'], value: ['commands', 'commands/machine', 'src/api', 'src/client.ts', ...GROUND], lazy: ['daemon'] },
  {
    rooms: ['commands'],
    value: ['src/api', 'src/client.ts', 'src/merkle', 'src/claim-page/site', ...GROUND],
    lazy: ['commands/machine'],
  },
  {
    rooms: ['commands/machine'],
    value: ['commands', 'src/api', 'src/chain', 'src/store', 'src/storage', 'src/merkle', 'src/context.ts', ...GROUND],
    lazy: ['src/localnet', 'src/operations'],
  },
  {
    rooms: ['daemon'],
    value: ROOM_PATHS.filter((room) => room.startsWith('src/') && !IN_BROWSERS.includes(room)),
    lazy: ['daemon/console'],
  },
  // Neither store nor chain: a page has no query of its own.
  {
    rooms: ['daemon/console'],
    value: ['daemon', 'src/operations', 'src/api', 'src/client.ts', 'src/context.ts', ...GROUND],
  },
  {
    rooms: ['src/operations'],
    value: [
      'src/following',
      'src/policy',
      'src/chain',
      'src/store',
      'src/storage',
      'src/api',
      'src/context.ts',
      'src/merkle',
      'src/claim-page/site',
      ...GROUND,
    ],
  },
  { rooms: ['src/following'], value: ['src/chain', 'src/store', 'src/context.ts', ...GROUND], type: ['src/api'] },
  {
    rooms: ['src/chain'],
    value: ['src/policy', 'src/merkle', ...GROUND],
    type: ['src/api'],
    lazy: ['src/localnet'],
  },
  { rooms: ['src/store', 'src/storage'], value: GROUND, type: ['src/api'] },
  {
    rooms: ['src/context.ts'],
    value: ['src/platform'],
    type: ['src/api', 'src/chain', 'src/store', 'src/storage', 'src/merkle', 'src/settings'],
  },
  {
    rooms: ['src/policy', 'src/localnet', 'src/merkle', 'src/claim-page/site'],
    value: ['src/merkle', 'src/solana', 'src/platform'],
  },
  { rooms: ['src/api', 'src/client.ts'], value: ['src/api', 'src/merkle', 'src/solana', 'src/platform'] },
  { rooms: ['src/passport-page'], value: ['src/claim-page/browser', 'src/solana', 'src/platform'] },
  {
    rooms: ['src/claim-page/browser', 'src/console-page', 'src/reference-page'],
    value: ['src/solana', 'src/platform'],
  },
  { rooms: ['src/settings'], value: ['src/platform'] },
  { rooms: ['src/solana', 'src/platform'], value: [] },
]

export const roomOfFile = (file: string): Room | undefined =>
  ROOM_PATHS.find((room) => file === room || file.startsWith(`${room}/`))

/** Whether a file of one room may import a file of another in this way. */
export function mayImport(from: Room, to: Room, kind: 'type' | 'static' | 'dynamic'): boolean {
  const rule = RULES.find(({ rooms }) => rooms.includes(from))
  if (from === to || rule?.value.includes(to)) return true
  return kind === 'type'
    ? [...(rule?.type ?? []), ...(rule?.lazy ?? [])].includes(to)
    : kind === 'dynamic' && rule?.lazy?.includes(to) === true
}
