/** Pauses, resumes and closes a mint of Token-2022, unsigned or signed by the platform wallet. */
import type { Api } from '../../../api/index.ts'
import type { Input, Result } from '../../../api/route.ts'
import { buildMintAct, type OnChainToken, readTokenState } from '../../../chain/programs/tokens/index.ts'
import { readWallets } from '../../../chain/reads/rpc-reads.ts'
import type { Context } from '../../../context.ts'
import { badRequest } from '../../../platform/errors.ts'
import { buildTransaction } from '../../building.ts'
import { answerAct } from './answer-act.ts'
import { unitsText } from './wallet-faults.ts'

type Routes = Api['tokens']
type MintAct = 'pause' | 'resume' | 'close'

export const pauseToken = (context: Context, input: Input<Routes['pause']>): Promise<Result<Routes['pause']>> =>
  answerAct(context, 'pause', input, (asked) => planPausing(context, asked, 'pause'))

export const resumeToken = (context: Context, input: Input<Routes['resume']>): Promise<Result<Routes['resume']>> =>
  answerAct(context, 'resume', input, (asked) => planPausing(context, asked, 'resume'))

export const closeToken = (context: Context, input: Input<Routes['close']>): Promise<Result<Routes['close']>> =>
  answerAct(context, 'close', input, async ({ mint, payer }) => {
    const token = await readTokenState(context.chain, mint)
    requireMintAuthority(token, 'close', payer)
    if (token.supply > 0n) {
      throw badRequest(
        `mint: ${unitsText(token.supply, token)} of ${mint} exist: a mint can be closed once all of it is burned (\`svc tokens burn\`)`,
        { param: 'mint', details: { reason: 'supply', supply: String(token.supply) } },
      )
    }
    const [account] = await readWallets(context.chain, [mint])
    const built = await buildAct(context, { act: 'close', mint, payer })
    return { built, summary: { mint, authority: payer, lamports: String(account?.lamports ?? 0n) } }
  })

async function planPausing(
  context: Context,
  { mint, payer }: { mint: string; payer: string },
  act: 'pause' | 'resume',
) {
  const token = await readTokenState(context.chain, mint)
  requireMintAuthority(token, act, payer)
  const isPaused = token.extensions?.isPaused === true
  if (isPaused === (act === 'pause')) {
    const state = isPaused ? 'is paused already' : 'is not paused'
    throw badRequest(`mint: ${mint} ${state}`, { param: 'mint', details: { reason: 'no_change' } })
  }
  return { built: await buildAct(context, { act, mint, payer }), summary: { mint, authority: payer } }
}

const buildAct = (context: Context, { act, mint, payer }: { act: MintAct; mint: string; payer: string }) =>
  buildTransaction(context, {
    payer,
    // More than twice the measured cost of each.
    fallbackUnits: 10_000,
    build: (envelope) => buildMintAct({ ...envelope, act, mint }),
  })

const WORDS = {
  pause: { authority: 'pause', done: 'paused' },
  resume: { authority: 'pause', done: 'resumed' },
  close: { authority: 'close', done: 'closed' },
} as const

/** Throws bad_request if the mint has no such authority, or if the payer is not its holder, who is named. */
function requireMintAuthority({ mint, extensions }: OnChainToken, act: MintAct, payer: string): void {
  const { authority, done } = WORDS[act]
  const never = (why: string, reason: string) =>
    badRequest(`mint: ${mint} can never be ${done}: ${why}`, { param: 'mint', details: { reason } })
  if (extensions === null) throw never('it is of SPL Token, and only Token-2022 can', 'spl')
  const holder = extensions.authorities[authority]
  if (holder === undefined) throw never(`it was made without a ${authority} authority`, 'no_authority')
  if (holder === null) throw never(`its ${authority} authority was given up`, 'given_up')
  if (holder === payer) return
  throw badRequest(`The ${authority} authority of ${mint} is ${holder}; only it can sign this`, {
    param: 'payer',
    details: { authority: holder },
  })
}
