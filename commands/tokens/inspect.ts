/** `svc tokens inspect`: everything that the chain shows about a token, with a verdict on each known risk. */
import { paths } from '../../src/api/paths.ts'
import { integer, mintAddress, required, verb } from '../cli/command.ts'
import { rowsOfRecords } from '../cli/reads.ts'
import { SVG } from '../ui/drawing-flags.ts'

export const inspectVerb = verb({
  about: 'Read everything that the chain shows about a token, with a verdict on each risk',
  details:
    'Supply, authorities, extensions, holders, locks of Jupiter Lock, and pools of Meteora DBC and DAMM v2, whoever made them. Pools of other programs are not read: liquidity elsewhere is not counted, and their vaults look like holders. Vaults of pools, locks and distributors do not count as holders, except for what a lock pays at any time: what is due counts for its recipient, and what a cancellation returns for its creator. A part that the RPC node does not show is unknown, and the reason is given.',
  calls: [paths.tokens.report],
  args: { mint: required(mintAddress('Mint of the token, or its symbol')) },
  flags: {
    holder_limit: integer('Share of one holder above which it is a risk, 1 to 100 (default 10)', {
      min: 1,
      max: 100,
      placeholder: 'PERCENT',
    }),
    svg: SVG,
  },
  examples: [
    'svc tokens inspect 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY',
    'svc tokens inspect 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --holder-limit 5 --svg holders.svg',
  ],
  async run({ mint, holder_limit, svg }, { client }) {
    const { data } = await client.tokens.report({
      mint,
      ...(holder_limit === undefined ? {} : { holder_limit: String(holder_limit) }),
    })
    const { reportText } = await import('./report-text.ts')
    const notes = data.gaps.map(({ part, reason }) => `${part}: ${reason}`)
    if (svg !== undefined) {
      const [{ writePicture }, { distributionSvg }] = await Promise.all([
        import('../ui/drawing.ts'),
        import('./distribution-picture.ts'),
      ])
      notes.push(...writePicture(svg, distributionSvg(data)))
    }
    const rows = rowsOfRecords(data.risks, ['risk', 'level', 'finding', 'remedy'])
    return { data, rows, text: reportText(data), notes }
  },
})
