/** Links addresses and signatures (OSC 8) to the explorer of the cluster, if the terminal shows links. */
import { isAddress } from '../../src/solana/addresses.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The public clusters that the explorer knows; the query that names each. A private node's URL is never sent there. */
const CLUSTER_QUERIES: Readonly<Record<string, string>> = {
  'mainnet-beta': '',
  devnet: '?cluster=devnet',
  testnet: '?cluster=testnet',
}
const EXPLORER = 'https://explorer.solana.com'
/** Words of base58 with the length of an address or a signature. */
const WORD = /(?<![\w-])[1-9A-HJ-NP-Za-km-z]{32,88}(?![\w-])/g
const SIGNATURE_LENGTHS = { least: 86, most: 88 }
const LEAST_VTE = 5_000
const LEAST_TMUX = 3.4
const PROGRAMS = ['iTerm.app', 'WezTerm', 'vscode', 'ghostty', 'Hyper', 'rio', 'zed', 'WarpTerminal']
const TERMINALS = ['xterm-kitty', 'xterm-ghostty', 'alacritty', 'foot', 'wezterm']

/**
 * Whether the terminal reports that it shows links. `FORCE_HYPERLINK` turns links on for others, and 0 turns them off.
 */
export function showsLinks(env: Environment, isTerminal: boolean): boolean {
  if (env.FORCE_HYPERLINK) return env.FORCE_HYPERLINK !== '0'
  if (!isTerminal || env.CI || env.TERM === 'dumb') return false
  if (env.TERM_PROGRAM === 'tmux') return Number.parseFloat(env.TERM_PROGRAM_VERSION ?? '0') >= LEAST_TMUX
  if (env.TMUX || env.STY) return false
  return (
    Number(env.VTE_VERSION ?? 0) >= LEAST_VTE ||
    Boolean(env.WT_SESSION || env.KONSOLE_VERSION) ||
    PROGRAMS.includes(env.TERM_PROGRAM ?? '') ||
    TERMINALS.includes(env.TERM ?? '')
  )
}

/** The text with links, which take no width; unchanged for clusters that are not public. */
export function withExplorerLinks(text: string, cluster: string | null): string {
  const query = cluster === null || !Object.hasOwn(CLUSTER_QUERIES, cluster) ? undefined : CLUSTER_QUERIES[cluster]
  if (query === undefined) return text
  return text.replace(WORD, (word) => {
    const { least, most } = SIGNATURE_LENGTHS
    const kind = word.length >= least && word.length <= most ? 'tx' : isAddress(word) ? 'address' : null
    return kind === null ? word : link(word, `${EXPLORER}/${kind}/${word}${query}`)
  })
}

const link = (text: string, url: string) => `\u001b]8;;${url}\u001b\\${text}\u001b]8;;\u001b\\`
