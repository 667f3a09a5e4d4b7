/** Withdraws the remaining tokens of an airdrop's vault to the receiver stored on chain, signed by the platform wallet. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { buildClawback, CLAWBACK_UNITS, tokenAccountAddress } from '../../chain/programs/merkle-distributor/index.ts'
import { decodeTokenAccount } from '../../chain/sending/balance-changes.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import type { Envelope } from '../../chain/sending/unsigned.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { builtPlan, inEitherMode } from '../act.ts'
import { trackingOf } from '../building.ts'
import { describeUnixTime, isOpen, type PresentAirdrop, readAirdrop, requireDistributor } from './on-chain.ts'

type WithdrawInput = Input<Api['airdrops']['withdraw']>

/** A vault that acts pays itself. */
export async function withdrawVault(
  context: Context,
  input: WithdrawInput,
): Promise<Result<Api['airdrops']['withdraw']>> {
  const vault = context.vaultActing?.vault
  const paid =
    vault === undefined ? { mode: 'signed' as const, payer: '' } : { mode: 'unsigned' as const, payer: vault }
  const answer = await inEitherMode(context, paid, 'airdrop.withdraw', async (payer) =>
    builtPlan(context, payer, await planWithdrawal(context, input, payer)),
  )
  return answer as Result<Api['airdrops']['withdraw']>
}

async function planWithdrawal(context: Context, { id, admin, amount }: WithdrawInput, payer: string) {
  const airdrop = requireDistributor(context.chain, await readAirdrop(context.chain, id))
  requireWithdrawable(airdrop)
  const opensReceiverFor = await resolveReceiver(context, airdrop, admin, payer)
  const whole = requireWhole(airdrop, BigInt(amount))
  const { address, mint, distributor } = airdrop
  const receiver = distributor.clawbackReceiver
  return {
    fallbackUnits: CLAWBACK_UNITS,
    build: (envelope: Envelope) =>
      buildClawback({ ...envelope, distributor: address, mint, receiver, opensReceiverFor }),
    summary: { mint, amount: String(whole) },
    tracked: trackingOf('airdrop', id, ['airdrop.vault_drained']),
    // The program moves its vault's tokens to the stored receiver, so none of them belong to the wallet.
    uncapped: [mint],
  }
}

function requireWithdrawable({ id, distributor, now }: PresentAirdrop): void {
  const { isClawedBack, clawbackAt, clawbackReceiver } = distributor
  if (isClawedBack) {
    throw badRequest(`The vault of the airdrop ${id} was already withdrawn to ${clawbackReceiver}`, {
      param: 'id',
      details: { reason: 'already_withdrawn', clawback_receiver: clawbackReceiver },
    })
  }
  if (now >= clawbackAt) return
  const left = clawbackAt - now
  throw badRequest(
    `The vault of the airdrop ${id} can be withdrawn from ${describeUnixTime(clawbackAt)} on: until then wallets can claim from it`,
    {
      param: 'id',
      details: { reason: 'too_early', clawback_at: describeUnixTime(clawbackAt), seconds_left: String(left) },
    },
  )
}

/**
 * Returns the owner for whom the receiver must be opened again, or null if it is open. Throws bad_request if it is not
 * the given admin's, or if it is closed and its owner is unknown.
 */
async function resolveReceiver(
  { chain }: Context,
  { mint, distributor }: PresentAirdrop,
  admin: string | undefined,
  wallet: string,
): Promise<string | null> {
  const receiver = distributor.clawbackReceiver
  const [account = null] = await accountsAt(chain, [receiver])
  const state = account === null ? null : decodeTokenAccount(account)
  const details = { clawback_receiver: receiver, owner: state?.owner ?? null }
  if (state !== null) {
    if (admin === undefined || state.owner === admin) return null
    throw badRequest(
      `admin: unclaimed tokens go to the token account ${receiver}, which belongs to ${state.owner}, not to ${admin}`,
      { param: 'admin', details },
    )
  }
  const owner = admin ?? wallet
  if (!isOpen(account) && tokenAccountAddress(mint, owner) === receiver) return owner
  throw badRequest(
    `Unclaimed tokens go to the token account ${receiver}, which is closed and does not belong to ${owner}: send its owner as admin, or have the account opened again`,
    { param: 'admin', details },
  )
}

/** The program always moves the whole balance. */
function requireWhole({ id, mint, vault, vaultAddress }: PresentAirdrop, amount: bigint): bigint {
  if (vault?.state === 'frozen') {
    throw badRequest(
      `The vault ${vaultAddress} of the airdrop ${id} is frozen: the freeze authority of ${mint} has to thaw it first`,
      { param: 'id', details: { reason: 'vault_frozen', vault: vaultAddress } },
    )
  }
  const balance = vault?.amount ?? 0n
  if (amount === balance) return balance
  throw badRequest(
    `amount: the vault of the airdrop ${id} holds ${balance}, and only the whole balance can be withdrawn: send amount ${balance}, not ${amount}`,
    { param: 'amount', details: { vault: vaultAddress, vault_balance: String(balance) } },
  )
}
