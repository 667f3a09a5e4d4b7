/** Pauses, resumes and closes a mint of Token-2022, unsigned or signed by the platform wallet. */
import type { Api } from '../../api/index.ts'
import { buildMintAct, type OnChainToken, readTokenState } from '../../chain/programs/tokens/index.ts'
import { readWallets } from '../../chain/reads/rpc-reads.ts'
import type { Envelope } from '../../chain/sending/unsigned.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { requireHolder } from './authorities.ts'
import { tokenAct } from './token-act.ts'
import { unitsText } from './wallet-faults.ts'

type Routes = Api['tokens']
type MintAct = 'pause' | 'resume' | 'close'

export const pauseToken = tokenAct<Routes['pause']>('token.pause', ({ chain }, { mint, payer }) =>
  planPausing(chain, { mint, payer, act: 'pause' }),
)

export const resumeToken = tokenAct<Routes['resume']>('token.resume', ({ chain }, { mint, payer }) =>
  planPausing(chain, { mint, payer, act: 'resume' }),
)

export const closeToken = tokenAct<Routes['close']>('token.close', async ({ chain }, { mint, payer }) => {
  const token = await readTokenState(chain, mint)
  requireMintAuthority(token, 'close', payer)
  if (token.supply > 0n) {
    throw badRequest(
      `mint: ${unitsText(token.supply, token)} of ${mint} exist: a mint can be closed once all of it is burned (\`svc tokens burn\`)`,
      { param: 'mint', details: { reason: 'supply', supply: String(token.supply) } },
    )
  }
  const [account] = await readWallets(chain, [mint])
  return { ...buildOf('close', mint), summary: { mint, authority: payer, lamports: String(account?.lamports ?? 0n) } }
})

async function planPausing(
  chain: Context['chain'],
  { mint, payer, act }: { mint: string; payer: string; act: 'pause' | 'resume' },
) {
  const token = await readTokenState(chain, mint)
  requireMintAuthority(token, act, payer)
  const isPaused = token.extensions?.isPaused === true
  if (isPaused === (act === 'pause')) {
    const state = isPaused ? 'is paused already' : 'is not paused'
    throw badRequest(`mint: ${mint} ${state}`, { param: 'mint', details: { reason: 'no_change' } })
  }
  return { ...buildOf(act, mint), summary: { mint, authority: payer } }
}

const buildOf = (act: MintAct, mint: string) => ({
  // More than twice the measured cost of each.
  fallbackUnits: 10_000,
  build: (envelope: Envelope) => buildMintAct({ ...envelope, act, mint }),
})

const WORDS = {
  pause: { authority: 'pause', done: 'paused' },
  resume: { authority: 'pause', done: 'resumed' },
  close: { authority: 'close', done: 'closed' },
} as const

/** Throws bad_request if the mint has no such authority, or if the payer is not its holder, who is named. */
function requireMintAuthority(token: OnChainToken, act: MintAct, payer: string): void {
  const { mint, extensions } = token
  const { authority, done } = WORDS[act]
  const never = (why: string, reason: string) =>
    badRequest(`mint: ${mint} can never be ${done}: ${why}`, { param: 'mint', details: { reason } })
  if (extensions === null) throw never('it is of SPL Token, and only Token-2022 can', 'spl')
  requireHolder(token, authority, payer, {
    missing: () => never(`it was made without a ${authority} authority`, 'no_authority'),
    gone: () => never(`its ${authority} authority was given up`, 'given_up'),
    only: 'sign this',
  })
}
