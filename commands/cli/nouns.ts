/** Lists the nouns with name, summary and loader, so that help and usage errors load no command. */
import type { Noun } from './command.ts'

/** The jobs under which the root help lists the nouns, in this order. */
export const GROUPS = ['Launch', 'Airdrop', 'Tokens', 'Money', 'Operate', 'Develop'] as const

export interface NounEntry {
  name: string
  group: (typeof GROUPS)[number]
  /** Other spellings: the singular, and the API's name. */
  aliases?: readonly string[]
  summary: string
  load(): Promise<Noun>
}

export const NOUNS: readonly NounEntry[] = [
  {
    name: 'pools',
    group: 'Launch',
    aliases: ['pool'],
    summary: 'Launch tokens on curves, trade them, follow them',
    load: async () => (await import('../pools/index.ts')).poolsNoun,
  },
  {
    name: 'raises',
    group: 'Launch',
    aliases: ['raise', 'presales', 'presale'],
    summary: 'Sell tokens before their pool opens, with an allowlist if you want',
    load: async () => (await import('../raises/index.ts')).raisesNoun,
  },
  {
    name: 'fees',
    group: 'Launch',
    aliases: ['fee', 'fee-claims'],
    summary: 'Claim and split fees of pools, with their history',
    load: async () => (await import('../fees/index.ts')).feesNoun,
  },
  {
    name: 'airdrops',
    group: 'Airdrop',
    aliases: ['airdrop'],
    summary: 'Launch, claim and follow airdrops',
    load: async () => (await import('../airdrops/index.ts')).airdropsNoun,
  },
  {
    name: 'merkle',
    group: 'Airdrop',
    aliases: ['merkle-trees', 'merkle-tree', 'trees', 'tree'],
    summary: 'Build, verify and compare airdrop trees',
    load: async () => (await import('../merkle/index.ts')).merkleNoun,
  },
  {
    name: 'tokens',
    group: 'Tokens',
    aliases: ['token'],
    summary: 'Create tokens, act on them, read what the chain shows about them',
    load: async () => (await import('../tokens/index.ts')).tokensNoun,
  },
  {
    name: 'locks',
    group: 'Tokens',
    aliases: ['lock'],
    summary: 'Locks and vesting of any token',
    load: async () => (await import('../locks/index.ts')).locksNoun,
  },
  {
    name: 'gold',
    group: 'Tokens',
    aliases: ['gold-locks', 'gold-lock'],
    summary: 'Lock gold tokens, unlock them, read locks',
    load: async () => (await import('../gold-locks.ts')).goldLocksNoun,
  },
  {
    name: 'nfts',
    group: 'Tokens',
    aliases: ['nft'],
    summary: 'Mint NFTs, one or a whole CSV, burn and read them',
    load: async () => (await import('../nfts/index.ts')).nftsNoun,
  },
  {
    name: 'collections',
    group: 'Tokens',
    aliases: ['collection'],
    summary: 'Make and read collections of NFTs',
    load: async () => (await import('../collections.ts')).collectionsNoun,
  },
  {
    name: 'stakes',
    group: 'Tokens',
    aliases: ['stake'],
    summary: 'Stake NFTs, release and read them',
    load: async () => (await import('../stakes.ts')).stakesNoun,
  },
  {
    name: 'wallet',
    group: 'Money',
    aliases: ['wallets'],
    summary: 'Store the keys that you sign with',
    load: async () => (await import('../wallet/index.ts')).walletNoun,
  },
  {
    name: 'signer',
    group: 'Money',
    summary: 'The platform wallet: policy, limits, pause switch',
    load: async () => (await import('../signer/index.ts')).signerNoun,
  },
  {
    name: 'approvers',
    group: 'Money',
    aliases: ['approver'],
    summary: 'People who may approve acts of the platform wallet',
    load: async () => (await import('../approvers.ts')).approversNoun,
  },
  {
    name: 'proposals',
    group: 'Money',
    aliases: ['proposal'],
    summary: 'Acts that wait for an approver: show, approve, execute',
    load: async () => (await import('../proposals/index.ts')).proposalsNoun,
  },
  {
    name: 'multisig',
    group: 'Money',
    aliases: ['multisigs'],
    summary: 'Create and read multisigs of Squads',
    load: async () => (await import('../multisig.ts')).multisigNoun,
  },
  {
    name: 'pay',
    group: 'Money',
    aliases: ['pay-requests', 'pay-request', 'qr'],
    summary: 'QR codes with which a phone signs and sends a transaction',
    load: async () => (await import('../pay/index.ts')).payNoun,
  },
  {
    name: 'ledger',
    group: 'Money',
    summary: 'The ledger of all movements: sums, proof, export',
    load: async () => (await import('../ledger/index.ts')).ledgerNoun,
  },
  {
    name: 'audit',
    group: 'Money',
    aliases: ['audit-entries'],
    summary: "Read and verify the signer's log",
    load: async () => (await import('../audit/index.ts')).auditNoun,
  },
  {
    name: 'serve',
    group: 'Operate',
    summary: 'Serve the API over HTTP until stopped',
    load: async () => (await import('../serve.ts')).serveNoun,
  },
  {
    name: 'status',
    group: 'Operate',
    summary: 'What needs a person, the workers, and the cluster',
    load: async () => (await import('../status.ts')).statusNoun,
  },
  {
    name: 'attention',
    group: 'Operate',
    summary: 'What needs a person, with the command that deals with it',
    load: async () => (await import('../attention/index.ts')).attentionNoun,
  },
  {
    name: 'health',
    group: 'Operate',
    summary: 'Check whether the service answers',
    load: async () => (await import('../health.ts')).healthNoun,
  },
  {
    name: 'doctor',
    group: 'Operate',
    summary: 'Check this installation',
    load: async () => (await import('../doctor.ts')).doctorNoun,
  },
  {
    name: 'keys',
    group: 'Operate',
    aliases: ['key', 'api-keys', 'api-key'],
    summary: 'Make, list, change, rotate and delete API keys',
    load: async () => (await import('../api-keys.ts')).apiKeysNoun,
  },
  {
    name: 'webhooks',
    group: 'Operate',
    aliases: ['webhook', 'webhook-subscriptions'],
    summary: 'Push events to a URL, signed; forward and verify them here',
    load: async () => (await import('../webhooks/index.ts')).webhooksNoun,
  },
  {
    name: 'events',
    group: 'Operate',
    aliases: ['event'],
    summary: 'Read and follow events',
    load: async () => (await import('../events/index.ts')).eventsNoun,
  },
  {
    name: 'console',
    group: 'Operate',
    summary: 'Open the pages for operators in a browser',
    load: async () => (await import('../console.ts')).consoleNoun,
  },
  {
    name: 'config',
    group: 'Operate',
    summary: 'Read and write settings and profiles',
    load: async () => (await import('../config.ts')).configNoun,
  },
  {
    name: 'db',
    group: 'Operate',
    aliases: ['database'],
    summary: 'Back up, restore, move and migrate the database',
    load: async () => (await import('../database/index.ts')).databaseNoun,
  },
  {
    name: 'storage',
    group: 'Operate',
    summary: 'Copy images and metadata into one place',
    load: async () => (await import('../storage.ts')).storageNoun,
  },
  {
    name: 'programs',
    group: 'Operate',
    aliases: ['program'],
    summary: 'See which builds of programs the cluster runs, and what works',
    load: async () => (await import('../programs.ts')).programsNoun,
  },
  {
    name: 'upgrade',
    group: 'Operate',
    aliases: ['update'],
    summary: 'Say how to get a newer version',
    load: async () => (await import('../upgrade.ts')).upgradeNoun,
  },
  {
    name: 'localnet',
    group: 'Develop',
    summary: 'Run the embedded chain: clock, airdrops, programs',
    load: async () => (await import('../localnet.ts')).localnetNoun,
  },
  {
    name: 'tx',
    group: 'Develop',
    aliases: ['transactions', 'transaction'],
    summary: 'Submit, follow, sign and simulate transactions',
    load: async () => (await import('../transactions/index.ts')).transactionsNoun,
  },
  {
    name: 'accounts',
    group: 'Develop',
    aliases: ['account'],
    summary: 'Read accounts of the chain',
    load: async () => (await import('../accounts.ts')).accountsNoun,
  },
  {
    name: 'pdas',
    group: 'Develop',
    aliases: ['pda'],
    summary: 'Derive program addresses',
    load: async () => (await import('../pdas.ts')).pdasNoun,
  },
  {
    name: 'openapi',
    group: 'Develop',
    summary: 'Print the API as an OpenAPI document',
    load: async () => (await import('../openapi.ts')).openApiNoun,
  },
  {
    name: 'skill',
    group: 'Develop',
    summary: 'Write the file from which a program learns to operate svc',
    load: async () => (await import('../skill.ts')).skillNoun,
  },
  {
    name: 'completion',
    group: 'Develop',
    summary: 'Complete commands in bash, zsh, fish or PowerShell',
    load: async () => (await import('../completion/index.ts')).completionNoun,
  },
]

interface GlobalOption {
  flags: string
  about: string
  /** Whether it may be given several times. */
  list?: true
}

/** Options of every command; they may precede or follow the noun. */
export const GLOBAL_OPTIONS: readonly GlobalOption[] = [
  {
    flags: '-o, --output <format>',
    about: 'table, json or plain (tab-separated)',
  },
  { flags: '--json', about: 'Same as -o json: one document on stdout' },
  { flags: '--columns <fields>', about: 'Show only these fields of the answer: a,b.c' },
  { flags: '--sort <field>', about: 'Sort a list by a field; -field: the largest first' },
  {
    flags: '--filter <condition>',
    about: 'Show only matches: field=value, != ~ > >= < <=; may be repeated',
    list: true,
  },
  { flags: '--jq <expression>', about: 'Print the result of this jq expression over the data' },
  { flags: '--template <text>', about: 'Print this text for each record, with its value for {field}' },
  { flags: '--no-pager', about: 'Never show a long answer in a pager' },
  {
    flags: '-u, --url <cluster>',
    about: 'embedded, mainnet-beta, devnet, testnet, localhost (m, d, t, l) or an RPC URL',
  },
  { flags: '--rpc-urls <urls>', about: 'Several RPC URLs of one cluster, separated by commas' },
  { flags: '--api <url>', about: 'API to use (default: the running local daemon, else this process)' },
  { flags: '--api-key-file <file>', about: 'File (0600) with the bearer key' },
  { flags: '--data-dir <folder>', about: 'Data folder' },
  { flags: '--profile <name>', about: 'Profile to use' },
  { flags: '--trust-project', about: "Accept an svc.json that is another user's, or that others can write" },
  { flags: '-y, --yes', about: 'Skip confirmations' },
  { flags: '--no-input', about: 'Never ask' },
  { flags: '--quiet', about: 'Print answers, warnings and failures only: no notes, previews of --yes, or progress' },
  { flags: '--debug', about: 'Show where a failure came from' },
  { flags: '--no-color', about: 'No colours' },
]

export const EXIT_CODES = [
  '0 done · 1 failed · 2 usage or bad input · 3 not found',
  '4 not allowed · 5 conflict · 6 rate-limited · 7 waits for approval',
  '130 cancelled',
]

/** Wraps a text into lines of whole words; a word longer than the width has a line of its own. */
function wrappedWords(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line === '') line = word
    else if (line.length + 1 + word.length <= width) line = `${line} ${word}`
    else {
      lines.push(line)
      line = word
    }
  }
  return [...lines, line]
}

/** A line of help, with a name in a column of the widest option, and its meaning wrapped. */
function lineOf(name: string, about: string, columns: number): string {
  const width = Math.max(...GLOBAL_OPTIONS.map(({ flags }) => flags.length))
  const lead = width + 4
  return `  ${name.padEnd(width)}  ${wrappedWords(about, columns - lead).join(`\n${' '.repeat(lead)}`)}\n`
}

/** What `svc help options` prints, wrapped to the given number of columns. */
export function optionsHelp(columns = Number.POSITIVE_INFINITY): string {
  return [
    'Options of every command:\n',
    ...GLOBAL_OPTIONS.map(({ flags, about }) => lineOf(flags, about, columns)),
    lineOf('-V, --version', 'Print the version', columns),
    lineOf('-h, --help', 'Help of svc or of a command', columns),
  ].join('')
}

const EXAMPLES = [
  'svc pools create --name "My Token" --symbol MINE --image logo.png',
  'svc airdrops launch holders.csv --mint MINT',
  'svc serve',
]
const DOCUMENTATION = 'docs/index.md in the clone; the API at /v2/docs of `svc serve`'

/** The help of `svc` itself, wrapped to the given number of columns. */
export function rootHelp(columns = Number.POSITIVE_INFINITY): string {
  return [
    'Usage: svc <noun> <verb> [options]\n\n',
    'Token launches on Solana: one command line and a self-hosted HTTP API.\n\n',
    `Examples:\n${EXAMPLES.map((example) => `  ${example}\n`).join('')}`,
    ...GROUPS.flatMap((group) => [
      `\n${group}:\n`,
      ...NOUNS.filter((noun) => noun.group === group).map(({ name, summary }) => lineOf(name, summary, columns)),
    ]),
    `\n${optionsHelp(columns)}`,
    `\nExit codes: ${EXIT_CODES.join('\n            ')}\n`,
    '\n`svc <noun> --help` shows the verbs, `svc <noun> <verb> --help` its flags.\n',
    `Documentation: ${DOCUMENTATION}\n`,
  ].join('')
}

/** The noun with that name or other spelling. */
export const nounEntry = (word: string | undefined): NounEntry | undefined =>
  NOUNS.find(({ name, aliases }) => word !== undefined && (name === word || aliases?.includes(word)))

/** The names in the flags of an option, such as `-u` and `--url`. */
export const namesOfFlags = (flags: string): string[] => flags.match(/--?[a-z][a-z-]*/g) ?? []

/** The indexes in argv of words that are neither options nor values of global options. */
export function wordPlaces(argv: readonly string[]): number[] {
  const taking = new Set(
    GLOBAL_OPTIONS.filter(({ flags }) => flags.includes('<')).flatMap(({ flags }) => namesOfFlags(flags)),
  )
  const places: number[] = []
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? ''
    if (taking.has(word)) i++
    else if (!word.startsWith('-')) places.push(i)
  }
  return places
}

/** The first word of argv that is neither an option nor the value of a global one. */
export const nounOf = (argv: readonly string[]): string | undefined => argv[wordPlaces(argv)[0] ?? argv.length]

/** Argv with the main spelling of the noun, and of the verb if the noun is given. */
export function firstSpelling(argv: readonly string[], noun?: Noun): readonly string[] {
  const [nounAt, verbAt] = wordPlaces(argv)
  const entry = nounAt === undefined ? undefined : nounEntry(argv[nounAt])
  const typed = verbAt === undefined ? undefined : argv[verbAt]
  const aliases = noun !== undefined && 'verbs' in noun ? (noun.aliases ?? {}) : {}
  const verb = typed !== undefined && Object.hasOwn(aliases, typed) ? aliases[typed] : undefined
  if (entry === undefined) return argv
  return argv.flatMap((word, at) =>
    at === nounAt ? [entry.name] : at === verbAt && verb !== undefined ? verb.split(' ') : [word],
  )
}
