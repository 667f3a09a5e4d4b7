/** Lists the calls that make a lock, claim from it, end it, or give it to another recipient. */
import type { LockSchedule } from '../../src/solana/lock-schedule.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { anyValue, type Call, opens, provesDecimals, type Signing } from './demand.ts'

/** A lock as the API reads it from the chain. Its program lets nobody else act. */
export interface AskedLock {
  address: string
  mint: string
}

export interface AskedLockCreation extends AskedLock {
  recipient: string
  schedule: LockSchedule & { startTime: bigint }
  /** Decimals with which the amount was converted; the chain checks them. */
  decimals: number
  /** 0 for nobody, or the sum of 1 for the creator and 2 for the recipient. */
  cancelMode: number
  updateRecipientMode: number
  /** Null if none are written. */
  texts: { title: string; description: string } | null
  /** Null for a key that the API makes. */
  base: string | null
}

const lock = (call: string, fields: Call['fields'], data?: Call['data']): Call => ({
  program: PROGRAMS.lock.id,
  call,
  fields,
  ...(data === undefined ? {} : { data }),
})

/** The name of the instruction, so many bytes, and no accounts of a transfer hook. */
const plain =
  (bytes = 0) =>
  (hex: string) =>
    hex.length === (8 + bytes + 1) * 2 && hex.endsWith('00')
/** Six numbers and two modes. */
const TERMS_BYTES = 6 * 8 + 2

export async function makesLock({ payer, accounts }: Signing, asked: AskedLockCreation): Promise<Call[]> {
  const { address, mint, recipient, schedule, decimals, texts } = asked
  const own = await accounts(mint, payer)
  return [
    provesDecimals(own, mint, decimals, payer),
    opens(payer, address, mint),
    lock(
      'create_vesting_escrow_v2',
      {
        base: asked.base ?? anyValue,
        sender: payer,
        sender_token: own,
        escrow: address,
        token_mint: mint,
        recipient,
        vesting_start_time: String(schedule.startTime),
        cliff_time: String(schedule.cliffTime),
        frequency: String(schedule.frequency),
        cliff_unlock_amount: String(schedule.cliffAmount),
        amount_per_period: String(schedule.amountPerPeriod),
        number_of_period: String(schedule.periods),
        update_recipient_mode: asked.updateRecipientMode,
        cancel_mode: asked.cancelMode,
      },
      plain(TERMS_BYTES),
    ),
    ...(texts === null ? [] : [writesTexts(payer, address, texts)]),
  ]
}

/** Nobody's e-mail address is published. */
const writesTexts = (payer: string, escrow: string, { title, description }: { title: string; description: string }) =>
  lock('create_vesting_escrow_metadata', {
    escrow,
    creator: payer,
    payer,
    name: title,
    description,
    creator_email: '',
    recipient_email: '',
  })

export const entitlesLock = (
  { payer }: Signing,
  { address, texts }: { address: string; texts: { title: string; description: string } },
): Call[] => [writesTexts(payer, address, texts)]

/** The whole of it goes to the payer, who may get the rent too. */
export async function claimsLock(
  { payer, accounts }: Signing,
  { address: escrow, mint, amount, closes }: AskedLock & { amount: bigint; closes: boolean },
): Promise<Call[]> {
  const own = await accounts(mint, payer)
  const claim = lock(
    'claim_v2',
    { escrow, token_mint: mint, recipient: payer, recipient_token: own, max_amount: String(amount) },
    plain(8),
  )
  return [opens(payer, payer, mint), claim, ...(closes ? [closesEscrow(payer, escrow, own)] : [])]
}

const closesEscrow = (payer: string, escrow: string, own: string[]): Call =>
  lock('close_vesting_escrow', { escrow, creator: payer, creator_token: own }, plain())

/** What has unlocked goes to the recipient, the rest and the rent to the creator. */
export async function cancelsLock(
  { payer, accounts }: Signing,
  { address: escrow, mint, creator, recipient }: AskedLock & { creator: string; recipient: string },
): Promise<Call[]> {
  const [creators, recipients] = await Promise.all([accounts(mint, creator), accounts(mint, recipient)])
  const cancel = lock(
    'cancel_vesting_escrow',
    {
      escrow,
      token_mint: mint,
      creator_token: creators,
      recipient_token: recipients,
      rent_receiver: creator,
      signer: payer,
    },
    plain(),
  )
  return [
    opens(payer, [creator, recipient], mint, 2),
    cancel,
    ...(payer === creator ? [closesEscrow(payer, escrow, creators)] : []),
  ]
}

export const givesLock = ({ payer }: Signing, { address, to }: { address: string; to: string }): Call[] => [
  lock('update_vesting_escrow_recipient', { escrow: address, signer: payer, new_recipient: to }, plain(32)),
]

/** The rent returns to the payer. */
export async function closesLock({ payer, accounts }: Signing, { address, mint }: AskedLock): Promise<Call[]> {
  return [opens(payer, payer, mint), closesEscrow(payer, address, await accounts(mint, payer))]
}
