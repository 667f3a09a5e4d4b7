/** `svc tokens passport`: writes the report of a token as a static page that proves each fact from the chain in the browser. */
import { paths } from '../../src/api/paths.ts'
import { siteCluster } from '../../src/claim-page/site/site-subject.ts'
import { mintAddress, required, verb } from '../cli/command.ts'
import { builtPage, nodeNotes, pageFlags } from '../ui/page-site.ts'
import { usage } from '../ui/problem.ts'
import { wholeFolder } from '../ui/whole-folder.ts'

const FORMAT = 'svc-token-passport/1'
const MOST_NODES = 8
/** Pools whose account the page reads, those with most of the token. */
const MOST_POOLS = 10

export const passportVerb = verb({
  about: 'Write the report of a token as a static page, which proves each fact in the browser',
  details:
    'DIR gets a page for any static host. The visitor’s browser reads the chain itself, compares supply, authorities, metadata, locks and locked liquidity with the report, and marks what changed and what it could not prove. Liquidity elsewhere than on Meteora is not counted. DIR appears only when it is complete.',
  calls: [paths.tokens.report, paths.service.cluster],
  args: { mint: required(mintAddress('Mint of the token, or its symbol')) },
  flags: pageFlags,
  examples: [
    'svc tokens passport 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --out public/passport',
    'svc tokens passport 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --out public/passport --rpc https://rpc.example.com --replace',
  ],
  async run({ mint, out, rpc = [], replace }, { client }) {
    requireNodes(rpc)
    const folder = await wholeFolder(out, { replace, kind: 'token passport', file: 'passport.json', format: FORMAT })
    const files = await builtPage('passport-page')
    const [{ data: report }, { data: chain }] = await Promise.all([
      client.tokens.report({ mint }),
      client.service.cluster({}),
    ])
    const cluster = siteCluster(chain.genesis_hash)
    const { pools } = report
    const shown = { ...report, pools: pools && { ...pools, pools: pools.pools.slice(0, MOST_POOLS) } }
    const passport = { format: FORMAT, cluster, rpc, written_at: report.at, report: shown }
    await folder.write(async (put) => {
      for (const [path, content] of files) await put(path, content)
      await put('passport.json', `${JSON.stringify(passport, undefined, 2)}\n`)
    })
    return {
      data: { out, mint: report.mint, cluster: cluster.name, files: files.size + 1 },
      notes: [...report.gaps.map(({ part, reason }) => `${part}: ${reason}`), ...nodeNotes(cluster.name, rpc)],
    }
  },
})

/** The page refuses other URLs, because browsers block them on a page with https. */
function requireNodes(urls: readonly string[]): void {
  if (urls.length > MOST_NODES) throw usage(`--rpc takes up to ${MOST_NODES} URLs`, { param: '--rpc' })
  for (const url of urls) {
    if (!isNodeUrl(url)) {
      throw usage(`--rpc must be https URLs without a password, or http URLs of this machine, not "${url}"`, {
        param: '--rpc',
      })
    }
  }
}

function isNodeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  const isHere = hostname === 'localhost' || hostname === '127.0.0.1'
  return (protocol === 'https:' || (protocol === 'http:' && isHere)) && username === '' && password === ''
}
