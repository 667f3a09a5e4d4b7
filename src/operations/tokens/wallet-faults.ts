/** Determines why an act on a token is refused: for the mint, for who signs, or for one of its wallets. */
import type { TokenActFault } from '../../api/token-acts.ts'
import {
  type OnChainToken,
  type ReceivingFault,
  receivingFault,
  type TokenReceiver,
  type WalletAct,
} from '../../chain/programs/tokens/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { groupedDecimalOf } from '../../solana/amounts.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { transferNote } from '../token-transfers/transfer-faults.ts'
import { requireHolder } from './authorities.ts'

type ActFault = TokenActFault | Exclude<ReceivingFault, 'sender' | 'memo_required'>

/** Throws bad_request if nobody can do it with this mint now, or if the payer does not hold the authority for it. */
export function requireAct(token: OnChainToken, act: WalletAct, payer: string): void {
  const { mint, extensions } = token
  if (act === 'mint' || act === 'burn') {
    if (mint === WRAPPED_SOL)
      throw badRequest(
        `mint: ${mint} is wrapped SOL, which nobody mints or burns: close its token account to unwrap it (\`svc wallet reclaim\`)`,
        { param: 'mint' },
      )
    if (extensions?.isPaused === true)
      throw badRequest(
        `mint: ${mint} is paused: nothing is minted, burned or moved until its pause authority resumes it`,
        { param: 'mint', details: { reason: 'paused' } },
      )
  }
  if (act === 'burn') return
  const type = act === 'mint' ? 'mint' : 'freeze'
  requireHolder(token, type, payer, { gone: () => goneFault(mint, type), only: 'sign this' })
}

const MEANINGS = { mint: 'nobody can mint more of it', freeze: 'nobody can freeze or thaw its accounts' }

const goneFault = (mint: string, type: 'mint' | 'freeze') =>
  badRequest(`mint: ${mint} has no ${type} authority: it was given up, and ${MEANINGS[type]}`, {
    param: 'mint',
    details: { reason: 'given_up' },
  })

interface ActTerms {
  token: OnChainToken
  act: WalletAct
  payer: string
  amount: bigint
  /** Whether wallets may be addresses of programs. */
  allowsPrograms: boolean
  vaultActing?: Context['vaultActing']
}

/** The token account of the mint that the act is about: the wallet's own one, or the one at the given address itself. */
export const actedAccount = ({ tokenAccount, state, wallet, own }: TokenReceiver, mint: string) =>
  own?.mint === mint ? { tokenAccount: wallet, state: own } : { tokenAccount, state }

/** Returns why the act would fail for the wallet, or give it tokens that nobody can use; null if it can be done. */
export function actFault(receiver: TokenReceiver, terms: ActTerms): ActFault | null {
  const { token, act, payer, amount, vaultActing } = terms
  const { mint, extensions } = token
  const opensFrozen = extensions?.isFrozenByDefault === true
  if (act === 'mint') {
    // The payer, and the vault that acts, may have any address.
    const allowsPrograms = terms.allowsPrograms || [payer, vaultActing?.vault].includes(receiver.wallet)
    const fault = receivingFault(receiver, { payer: '', mint, allowsPrograms, opensFrozen })
    return fault === 'memo_required' || fault === 'sender' ? null : fault
  }
  const { state, tokenAccount } = actedAccount(receiver, mint)
  if (state === null) return act === 'thaw' && opensFrozen && receiver.isMissing ? null : 'no_account'
  if (state.mint !== mint || (tokenAccount !== receiver.wallet && state.owner !== receiver.wallet))
    return 'account_taken'
  const isFrozen = state.state === 'frozen'
  if (act === 'freeze') return isFrozen ? 'frozen_already' : null
  if (act === 'thaw') return isFrozen ? null : 'not_frozen'
  if (state.owner !== payer && extensions?.permanentDelegate !== payer) return 'not_authorized'
  if (isFrozen) return 'account_frozen'
  return state.amount < amount ? 'too_little' : null
}

/** Whole tokens for people, and the raw units that requests have. */
export const unitsText = (raw: bigint, { decimals }: Pick<OnChainToken, 'decimals'>): string =>
  `${groupedDecimalOf(raw, decimals)} (${raw} raw units)`

const NOTES: Record<TokenActFault, (receiver: TokenReceiver, terms: ActTerms) => string> = {
  no_account: ({ wallet, tokenAccount }, { token, act }) =>
    `${wallet} has no token account of ${token.mint} (${tokenAccount}): there is nothing to ${act}`,
  too_little: (receiver, { token, amount }) => {
    const { tokenAccount, state } = actedAccount(receiver, token.mint)
    return `the token account ${tokenAccount} of ${receiver.wallet} has ${unitsText(state?.amount ?? 0n, token)}, less than ${unitsText(amount, token)}`
  },
  not_authorized: ({ wallet }, { token, payer }) =>
    `${payer} cannot burn what ${wallet} holds: its owner has to sign, or the permanent delegate of ${token.mint}${
      token.extensions?.permanentDelegate
        ? `, which is ${token.extensions.permanentDelegate}`
        : ', which it does not have'
    }`,
  frozen_already: (receiver, { token }) =>
    `the token account ${actedAccount(receiver, token.mint).tokenAccount} of ${receiver.wallet} is frozen already`,
  not_frozen: (receiver, { token }) =>
    `the token account ${actedAccount(receiver, token.mint).tokenAccount} of ${receiver.wallet} is not frozen`,
}

/** What is wrong, in words. */
export function actNote(fault: ActFault, receiver: TokenReceiver, terms: ActTerms): string {
  if (fault in NOTES) return NOTES[fault as TokenActFault](receiver, terms)
  const note = transferNote(fault as Exclude<ActFault, TokenActFault>, receiver)
  return fault === 'new_accounts_frozen' ? `${note} (\`svc tokens thaw\` opens and thaws one)` : note
}
