/** The nouns of the command line: name, summary and loader, so that help and mistakes load no command. */
import type { Noun } from '../commands/command.ts'

export interface NounEntry {
  name: string
  summary: string
  load(): Promise<{ noun: Noun }>
}

export const NOUNS: readonly NounEntry[] = [
  { name: 'serve', summary: 'Serve the API over HTTP until stopped', load: () => import('../commands/serve.ts') },
  {
    name: 'localnet',
    summary: 'Run the embedded chain: clock, airdrops, programs',
    load: () => import('../commands/localnet.ts'),
  },
  { name: 'keys', summary: 'Make, list and revoke API keys', load: () => import('../commands/api-keys.ts') },
  {
    name: 'signer',
    summary: 'The platform wallet: policy, limits, pause switch',
    load: () => import('../commands/signer.ts'),
  },
  { name: 'audit', summary: "Read and verify the signer's log", load: () => import('../commands/audit.ts') },
  { name: 'config', summary: 'Read and write settings and profiles', load: () => import('../commands/config.ts') },
  { name: 'doctor', summary: 'Check this installation', load: () => import('../commands/doctor.ts') },
  {
    name: 'merkle',
    summary: 'Build, verify and compare airdrop trees',
    load: () => import('../commands/merkle/index.ts'),
  },
  {
    name: 'airdrops',
    summary: 'Launch, claim and follow airdrops',
    load: () => import('../commands/airdrops/index.ts'),
  },
  {
    name: 'pools',
    summary: 'Launch tokens on curves, trade them, follow them',
    load: () => import('../commands/pools/index.ts'),
  },
  {
    name: 'fees',
    summary: 'Claim and split what pools owe, and its history',
    load: () => import('../commands/fees/index.ts'),
  },
  {
    name: 'tokens',
    summary: 'Create and read tokens, give up their authorities',
    load: () => import('../commands/tokens.ts'),
  },
  {
    name: 'collections',
    summary: 'Make and read collections of NFTs',
    load: () => import('../commands/collections.ts'),
  },
  {
    name: 'nfts',
    summary: 'Mint NFTs, one or a whole CSV, burn and read them',
    load: () => import('../commands/nfts/index.ts'),
  },
  { name: 'stakes', summary: 'Stake NFTs, release and read them', load: () => import('../commands/stakes.ts') },
  { name: 'gold', summary: 'Lock gold, take it back, read locks', load: () => import('../commands/gold-locks.ts') },
  { name: 'accounts', summary: 'Read accounts of the chain', load: () => import('../commands/accounts.ts') },
  { name: 'pdas', summary: 'Derive program addresses', load: () => import('../commands/pdas.ts') },
  {
    name: 'tx',
    summary: 'Submit, follow, sign and simulate transactions',
    load: () => import('../commands/transactions.ts'),
  },
  { name: 'events', summary: 'Read and follow events', load: () => import('../commands/events/index.ts') },
  {
    name: 'webhooks',
    summary: 'Push events to a URL, signed; forward and verify them here',
    load: () => import('../commands/webhooks/index.ts'),
  },
  { name: 'health', summary: 'Tell whether the service answers', load: () => import('../commands/health.ts') },
  {
    name: 'status',
    summary: 'Read the state of the workers, and the cluster',
    load: () => import('../commands/status.ts'),
  },
]

export interface GlobalOption {
  flags: string
  about: string
}

/** Options of every command; they stand before or after the noun. */
export const GLOBAL_OPTIONS: readonly GlobalOption[] = [
  {
    flags: '-o, --output <format>',
    about: 'table, json or plain (tab-separated)',
  },
  { flags: '--json', about: 'Same as -o json: one document on stdout' },
  {
    flags: '-u, --url <cluster>',
    about: 'embedded, mainnet-beta, devnet, testnet, localhost (m, d, t, l) or an RPC URL',
  },
  { flags: '--api <url>', about: 'Talk to this API (default: the running local daemon, else in process)' },
  { flags: '--api-key-file <file>', about: 'File (0600) with the bearer key' },
  { flags: '--data-dir <folder>', about: 'Data folder' },
  { flags: '--profile <name>', about: 'Profile whose settings apply' },
  { flags: '--trust-project', about: "Take an svc.json that is another user's, or that others can write" },
  { flags: '-y, --yes', about: 'Skip confirmations' },
  { flags: '--no-input', about: 'Never ask' },
  { flags: '--debug', about: 'Show where a failure came from' },
  { flags: '--no-color', about: 'No colours' },
]

export const EXIT_CODES = [
  '0 done · 1 failed · 2 usage or bad input · 3 not found',
  '4 not allowed · 5 conflict · 6 rate-limited · 130 cancelled',
]

/** Lines of whole words; a word that is longer than the width has a line of its own. */
function wrapped(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!
    if (line === '') lines[lines.length - 1] = word
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}

/** Help of `svc` itself, of so many columns. */
export function rootHelp(columns = Number.POSITIVE_INFINITY): string {
  const width = Math.max(...GLOBAL_OPTIONS.map(({ flags }) => flags.length))
  const lead = width + 4
  const line = (name: string, about: string) =>
    `  ${name.padEnd(width)}  ${wrapped(about, columns - lead).join(`\n${' '.repeat(lead)}`)}\n`
  return [
    'Usage: svc <noun> <verb> [options]\n\n',
    'Token launches on Solana: one command line and a self-hosted HTTP API.\n\n',
    'Commands:\n',
    ...NOUNS.map(({ name, summary }) => line(name, summary)),
    '\nOptions of every command:\n',
    ...GLOBAL_OPTIONS.map(({ flags, about }) => line(flags, about)),
    line('-V, --version', 'Print the version'),
    line('-h, --help', 'Help of svc or of a command'),
    `\nExit codes: ${EXIT_CODES.join('\n            ')}\n`,
    '\n`svc <noun> --help` shows the verbs, `svc <noun> <verb> --help` its flags.\n',
  ].join('')
}

/** The first word that is neither an option nor the value of one. */
export function nounOf(argv: readonly string[]): string | undefined {
  const taking = new Set(
    GLOBAL_OPTIONS.filter(({ flags }) => flags.includes('<')).flatMap(({ flags }) => flags.match(/--?[a-z-]+/g) ?? []),
  )
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i]!
    if (taking.has(word)) i++
    else if (!word.startsWith('-')) return word
  }
  return undefined
}
