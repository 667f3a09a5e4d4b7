/**
 * The visitor's settings: node, language, appearance, explorer. They are stored in this browser, only for this site.
 */
import { remember, remembered } from './pending-claims.ts'
import { type Explorer, type PageSubject, type SiteSettings, safeUrl } from './site-files.ts'

/** Public nodes of the clusters, for sites that name none. */
const PUBLIC_NODES: Readonly<Record<string, string>> = {
  mainnet: 'https://api.mainnet-beta.solana.com',
  devnet: 'https://api.devnet.solana.com',
  testnet: 'https://api.testnet.solana.com',
}
const LOCAL_NODE = 'http://127.0.0.1:8899'

const NODE_KEY = (subject: PageSubject) => `node:${subject.genesisHash.slice(0, 8)}`

/** The nodes to use: the visitor's own, otherwise those of the site. */
export function nodeUrls(subject: PageSubject, settings: SiteSettings): readonly string[] {
  const own = ownNode(subject)
  if (own !== null) return [own]
  return settings.rpc.length > 0 ? settings.rpc : [PUBLIC_NODES[subject.clusterName] ?? LOCAL_NODE]
}

/** The visitor's node for this cluster, or null. */
export const ownNode = (subject: PageSubject): string | null => safeUrl(remembered(NODE_KEY(subject)))

/** Stores or removes the visitor's node; returns whether it is a valid URL of a node. */
export function keepNode(subject: PageSubject, url: string | null): boolean {
  if (url !== null && safeUrl(url) === null) return false
  remember(NODE_KEY(subject), url)
  return true
}

export function explorersOf({ explorers }: SiteSettings, { clusterName }: PageSubject, node: string): Explorer[] {
  if (explorers.length > 0) return [...explorers]
  const query = clusterName === 'mainnet' ? '' : `?cluster=${clusterName}`
  const isPublic = clusterName in PUBLIC_NODES
  const custom = `?cluster=custom&customUrl=${encodeURIComponent(node)}`
  const solana = 'https://explorer.solana.com/tx/{signature}'
  if (!isPublic) return [{ name: 'Solana Explorer', transaction: solana + custom }]
  return [
    { name: 'Solana Explorer', transaction: solana + query },
    { name: 'Solscan', transaction: `https://solscan.io/tx/{signature}${query}` },
    { name: 'Orb', transaction: `https://orbmarkets.io/tx/{signature}${query}` },
  ]
}

/** The explorer that the visitor chose, or the first. */
export function chosenExplorer(explorers: readonly Explorer[]): Explorer | undefined {
  const name = remembered('explorer')
  return explorers.find((explorer) => explorer.name === name) ?? explorers[0]
}

export const explorerUrl = ({ transaction }: Explorer, signature: string): string =>
  transaction.replace('{signature}', signature)

export type Theme = 'auto' | 'light' | 'dark'
export const THEMES: readonly Theme[] = ['auto', 'light', 'dark']

export function applyTheme(theme: Theme = (remembered('theme') as Theme | null) ?? 'auto'): Theme {
  const known = THEMES.includes(theme) ? theme : 'auto'
  if (known === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = known
  return known
}

/** Replaces the page's own colours by the operator's. */
export function applyColours({ light, dark }: SiteSettings): void {
  for (const [theme, palette] of Object.entries({ light, dark })) {
    for (const [name, colour] of Object.entries(palette)) {
      document.documentElement.style.setProperty(`--${name}-${theme}`, colour)
      if (name === 'accent') document.documentElement.style.setProperty(`--on-accent-${theme}`, textOn(colour))
    }
  }
}

/** Black or white, whichever has more contrast on the colour (WCAG 2.2, relative luminance). */
function textOn(colour: string): string {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? '#000000' : '#ffffff'
}
