/** The rooms of the source: what each is for and what it may import. A test checks this, and docs/architecture.md is generated from it. */

/** The paths of the rooms; a file belongs to the first of them that its path begins with. */
export const ROOM_PATHS = [
  'bin',
  'commands',
  'daemon',
  'src/operations',
  'src/following',
  'src/policy',
  'src/chain',
  'src/localnet',
  'src/solana',
  'src/store',
  'src/storage',
  'src/merkle',
  'src/claim-page/site',
  'src/merkle/allocation',
  'src/api',
  'src/client.ts',
  'src/claim-page',
  'src/reference-page',
  'src/context.ts',
  'src/settings/config.ts',
  'src/settings/settings.ts',
  'src/settings/endpoint-settings.ts',
  'src/settings/project-file.ts',
  'src/settings/secret-files.ts',
  'src/platform/errors.ts',
  'src/platform/files.ts',
  'src/platform/file-lock.ts',
  'src/platform/native-modules.ts',
  'src/platform/timing.ts',
  'src/platform/outgoing-proxy.ts',
  'src/platform/urls.ts',
  'src/platform/log.ts',
  'src/settings/redaction.ts',
  'src/platform/version.ts',
  'src/platform/telemetry',
] as const

export type RoomPath = (typeof ROOM_PATHS)[number]

const ROOMS_BELOW = [
  'src/platform/errors.ts',
  'src/platform/files.ts',
  'src/platform/file-lock.ts',
  'src/platform/native-modules.ts',
  'src/platform/timing.ts',
  'src/platform/log.ts',
  'src/platform/outgoing-proxy.ts',
  'src/platform/urls.ts',
  'src/settings/config.ts',
  'src/settings/redaction.ts',
  'src/platform/version.ts',
  'src/platform/telemetry',
] as const

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

export const HOUSE_ROOMS: Record<RoomPath, HouseRoom> = {
  bin: {
    about: 'argv → command → exit code; joins commands to the daemon; writes the generated documents',
    value: ROOM_PATHS,
  },
  commands: {
    about:
      'one folder or file a noun: flags, prompts, client calls, a returned value; `signing/` is one run for all of them, `lists/` one for lists of rows, `ui/` renders',
    value: [
      'src/api',
      'src/platform/errors.ts',
      'src/platform/files.ts',
      'src/platform/file-lock.ts',
      'src/platform/native-modules.ts',
      'src/platform/timing.ts',
      'src/platform/urls.ts',
      'src/merkle',
      'src/claim-page/site',
      'src/merkle/allocation',
      'src/solana',
      'src/settings/config.ts',
    ],
    type: ['src/client.ts'],
  },
  daemon: {
    about: 'app, pipeline, routes (a line per verb), workers, listening and stopping',
    value: ROOM_PATHS.filter(
      (room) => room.startsWith('src/') && !['src/client.ts', 'src/claim-page', 'src/reference-page'].includes(room),
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
      'src/solana',
      'src/store',
      'src/storage',
      'src/merkle',
      'src/claim-page/site',
      'src/merkle/allocation',
      'src/context.ts',
      ...ROOMS_BELOW,
    ],
  },
  // This room receives the resources that it changes as a list of projections.
  'src/following': {
    about:
      'from confirmed transactions to records and events: knows projections and no noun, see [following](following.md)',
    value: [
      'src/chain',
      'src/solana',
      'src/store',
      'src/context.ts',
      'src/platform/errors.ts',
      'src/platform/timing.ts',
      'src/platform/log.ts',
      'src/platform/telemetry',
    ],
    type: ['src/api'],
  },
  'src/policy': {
    about:
      'what may leave a wallet: computes what a transaction moves, and checks it against rules; pure, see [signing and policy](signing-and-policy.md)',
    value: ['src/solana'],
  },
  'src/chain': {
    about:
      'the node: `reads/`, `sending/` (simulations, limits, relay), `nodes/` (RPC endpoints), `signer/`; one folder a program below `programs/`',
    value: ['src/policy', 'src/solana', 'src/merkle/allocation', ...ROOMS_BELOW],
    type: ['src/api'],
    lazy: ['src/localnet'],
  },
  // The chain's journal is a database file of this installation and is opened like every other, hence `src/platform/files.ts`.
  'src/localnet': {
    about:
      'the embedded chain: LiteSVM behind the `fetch` of a Connection and as a JSON-RPC server, see [the embedded chain](embedded-chain.md)',
    value: ['src/solana', 'src/platform/files.ts', 'src/platform/native-modules.ts'],
  },
  'src/solana': {
    about: 'ground floor, pure: addresses, messages, signatures, fees, accounts, typed instructions',
    value: [],
  },
  'src/store': {
    about:
      'Kysely over both databases; no dialect outside the files of each driver (`sqlite*.ts`, `postgres*.ts`) but the admission of requests in `rate-hits.ts`, no query outside this room',
    value: ROOMS_BELOW,
    type: ['src/api'],
  },
  'src/storage': {
    about: 'token images and metadata: checked, stored, delegated, served',
    value: ROOMS_BELOW,
    type: ['src/api'],
  },
  'src/merkle': {
    about: 'lists, trees, proofs: pure functions over bytes, see [Merkle trees](merkle-trees.md)',
    value: ['src/solana'],
  },
  'src/claim-page/site': {
    about: 'the files of a claim page for visitors: rows, index, settings, see [claim pages](claim-pages.md)',
    value: ['src/merkle', 'src/solana'],
  },
  'src/merkle/allocation': {
    about:
      'from holders to lists of recipients: packed rows, rules, formulas, exact shares; pure, see [snapshots](snapshots.md)',
    value: ['src/merkle', 'src/solana'],
  },
  'src/api': {
    about: 'the contract as data: zod schemas and routes; OpenAPI and the client come from it',
    value: ['src/solana', 'src/merkle/allocation'],
  },
  'src/client.ts': {
    about: '`client.pools.create(input)` over any transport',
    value: ['src/api', 'src/platform/errors.ts', 'src/platform/timing.ts'],
  },
  'src/claim-page': {
    about:
      'the claim page in a browser: looks a wallet up, proves what it finds, builds, sends and follows the claim; nothing of Node',
    value: ['src/solana', 'src/platform/timing.ts'],
  },
  'src/reference-page': {
    about:
      'script and style of the [reference page](reference-page.md), which the build makes of the OpenAPI document; nothing of Node',
    value: [],
  },
  'src/context.ts': {
    about: 'what an operation gets: configuration, log, clock, chain, store, storage',
    value: [],
    type: ['src/api', 'src/chain', 'src/store', 'src/storage', 'src/merkle', ...ROOMS_BELOW],
  },
  'src/settings/config.ts': {
    about: 'the value of each setting, and where it came from',
    value: [
      'src/settings/settings.ts',
      'src/settings/endpoint-settings.ts',
      'src/settings/project-file.ts',
      'src/settings/secret-files.ts',
      'src/platform/errors.ts',
      'src/platform/urls.ts',
    ],
  },
  'src/settings/endpoint-settings.ts': {
    about: 'the setting `rpc-urls`: several RPC endpoints with weights and headers, see [nodes](nodes.md)',
    value: ['src/settings/settings.ts', 'src/platform/errors.ts', 'src/platform/urls.ts'],
  },
  'src/settings/project-file.ts': {
    about: "a folder's `svc.json`: whose it must be, what it may set",
    value: ['src/settings/settings.ts', 'src/platform/errors.ts', 'src/platform/files.ts'],
  },
  'src/settings/secret-files.ts': {
    about: 'files that `SVC_…_FILE` variables name: what is taken from them',
    value: ['src/platform/errors.ts', 'src/platform/files.ts'],
  },
  'src/settings/settings.ts': { about: 'every setting as data: kind, default, meaning, who may set it', value: [] },
  'src/platform/errors.ts': { about: 'the error envelope: codes, messages, ways out', value: [] },
  'src/platform/files.ts': {
    about: "this user's own files: owner, links and modes are checked on what was opened; atomic writes",
    value: ['src/platform/errors.ts'],
  },
  'src/platform/file-lock.ts': {
    about: "takes SQLite's lock on a file, and tells whether a living process holds it",
    value: ['src/platform/native-modules.ts'],
  },
  'src/platform/native-modules.ts': {
    about: 'loads what has a native part; why it does not load, and what mends that',
    value: ['src/platform/errors.ts'],
  },
  'src/platform/timing.ts': {
    about: 'units of time, waiting, calls that end by a deadline, what a `Retry-After` asks for',
    value: [],
  },
  'src/platform/outgoing-proxy.ts': {
    about: 'the HTTP proxy of the environment, and its use by every `fetch`',
    value: [],
  },
  'src/platform/urls.ts': { about: 'parses URLs: `URL.canParse` is wrong on Node 20 and 22', value: [] },
  'src/platform/log.ts': { about: 'structured lines for whoever operates the daemon', value: [] },
  'src/settings/redaction.ts': {
    about: 'takes configured URLs and secrets out of every message, log line and answer',
    value: ['src/settings/config.ts', 'src/platform/urls.ts'],
  },
  'src/platform/version.ts': { about: 'the version of this build', value: [] },
  'src/platform/telemetry': {
    about:
      'trace context, spans and calls to other services, published on channels, see [observability](observability.md)',
    value: ['src/platform/urls.ts'],
  },
}

export const roomOfFile = (file: string): RoomPath | undefined =>
  ROOM_PATHS.find((room) => file === room || file.startsWith(`${room}/`))
