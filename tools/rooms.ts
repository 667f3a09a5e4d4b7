/** The rooms of the source: what each is for and what it may import. `test/architecture.test.ts` checks it, and docs/architecture.md is made from it. */

/** The paths of the rooms; a file belongs to the first of them that its path begins with. */
export const ROOM_PATHS = [
  'tools',
  'bin',
  'commands/machine',
  'commands',
  'daemon',
  'src/operations',
  'src/following',
  'src/policy',
  'src/chain',
  'src/store',
  'src/storage',
  'src/localnet',
  'src/merkle',
  'src/claim-page/site',
  'src/claim-page/browser',
  'src/client.ts',
  'src/context.ts',
  'src/api',
  'src/solana',
  'src/settings',
  'src/platform',
] as const

export type RoomPath = (typeof ROOM_PATHS)[number]

interface HouseRoom {
  /** One sentence for the table in docs/architecture.md, in Markdown. */
  about: string
  /** Rooms whose values and types may be imported. */
  value: readonly RoomPath[]
  /** Rooms of which only types may be imported. */
  type?: readonly RoomPath[]
  /** Rooms that may be loaded with `import()`, and whose types may be imported. */
  lazy?: readonly RoomPath[]
}

const GROUND: readonly RoomPath[] = ['src/solana', 'src/settings', 'src/platform']

export const HOUSE_ROOMS: Record<RoomPath, HouseRoom> = {
  tools: { about: 'builds, generates and checks the repository', value: ROOM_PATHS },
  bin: {
    about: 'the executable: argv → command → exit code; joins commands to the daemon',
    value: ['commands', 'commands/machine', 'src/client.ts', 'src/api', ...GROUND],
    lazy: ['daemon'],
  },
  commands: {
    about:
      'one folder or file for each noun; `cli/` is what they share, `signing/` one run for all that sign, `lists/` one for all that take a list, `ui/` renders',
    value: ['src/api', 'src/merkle', 'src/claim-page/site', 'src/client.ts', ...GROUND],
    lazy: ['commands/machine'],
  },
  'commands/machine': {
    about: "what commands do with this machine's own files: wallets, doctor, database, embedded chain, storage",
    value: ['commands', 'src/api', 'src/chain', 'src/store', 'src/storage', 'src/merkle', 'src/context.ts', ...GROUND],
    lazy: ['src/localnet', 'src/operations'],
  },
  daemon: {
    about: 'app, pipeline, routes (a line for each verb), workers, listening and stopping',
    value: ROOM_PATHS.filter(
      (room) => room.startsWith('src/') && !['src/client.ts', 'src/claim-page/browser'].includes(room),
    ),
    type: ['src/client.ts'],
  },
  'src/operations': {
    about:
      'what the product does: one verb a file; `building.ts` is the frame of every verb that builds a transaction, `projection.ts` of each noun says what confirmed transactions did to it',
    value: [
      'src/api',
      'src/following',
      'src/policy',
      'src/chain',
      'src/store',
      'src/storage',
      'src/merkle',
      'src/claim-page/site',
      'src/context.ts',
      ...GROUND,
    ],
  },
  'src/following': {
    about:
      'from confirmed transactions to records and events: knows projections and no noun, see [following](following.md)',
    value: ['src/chain', 'src/store', 'src/context.ts', ...GROUND],
    type: ['src/api'],
  },
  'src/policy': {
    about:
      'what may leave a wallet: computes what a transaction moves, and checks it against rules; pure, see [signing and policy](signing-and-policy.md)',
    value: ['src/solana'],
  },
  'src/chain': {
    about: 'the node: `reads/`, `sending/`, `nodes/`, `signer/`; one folder for each program below `programs/`',
    value: ['src/policy', 'src/merkle', ...GROUND],
    type: ['src/api'],
    lazy: ['src/localnet'],
  },
  'src/store': {
    about: 'Kysely over both databases, a folder for each family of tables; the only room with queries',
    value: GROUND,
    type: ['src/api'],
  },
  'src/storage': {
    about: 'token images and metadata: checked, stored, delegated, served',
    value: GROUND,
    type: ['src/api'],
  },
  'src/localnet': {
    about:
      'the embedded chain: LiteSVM behind the `fetch` of a Connection and as a JSON-RPC server, see [the embedded chain](embedded-chain.md)',
    value: ['src/solana', 'src/platform'],
  },
  'src/merkle': {
    about:
      'lists, trees, proofs, and the allocation of a total to holders: pure functions over bytes, see [Merkle trees](merkle-trees.md)',
    value: ['src/solana', 'src/platform'],
  },
  'src/claim-page/site': {
    about: 'the files of a claim page for visitors: rows, index, settings, see [claim pages](claim-pages.md)',
    value: ['src/merkle', 'src/solana', 'src/platform'],
  },
  'src/claim-page/browser': {
    about: 'the claim page in a browser: finds a wallet, checks its proof, builds, sends and follows the claim',
    value: ['src/solana', 'src/platform'],
  },
  'src/api': {
    about: 'the contract as data: zod schemas and routes; OpenAPI and the client come from it',
    value: ['src/solana', 'src/merkle', 'src/platform'],
  },
  'src/client.ts': {
    about: '`client.pools.create(input)` over any transport',
    value: ['src/api', 'src/platform'],
  },
  'src/context.ts': {
    about: 'what an operation gets: configuration, log, clock, chain, store, storage',
    value: ['src/platform'],
    type: ['src/api', 'src/chain', 'src/store', 'src/storage', 'src/merkle', 'src/settings'],
  },
  'src/solana': {
    about: 'ground floor, pure: addresses, messages, signatures, fees, accounts, typed instructions',
    value: [],
  },
  'src/settings': {
    about: 'every setting as data, where its value comes from, and how secrets are hidden',
    value: ['src/platform'],
  },
  'src/platform': { about: 'files, locks, native modules, time, urls, version, log, errors, traces', value: [] },
}

export const roomOfFile = (file: string): RoomPath | undefined =>
  ROOM_PATHS.find((room) => file === room || file.startsWith(`${room}/`))
