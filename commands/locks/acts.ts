/** `svc locks cancel`, `transfer`, `update` and `close`: acts on one lock, by its creator or its recipient. */
import type { LockRead } from '../../src/api/locks.ts'
import { paths } from '../../src/api/paths.ts'
import { hexOf } from '../../src/solana/bytes.ts'
import { JUPITER_LOCK, type LockTexts } from '../../src/solana/programs/jupiter-lock.ts'
import { solOf, tokensText, unitsOfAll } from '../cli/amounts.ts'
import { required, text, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { type Call, demanding, opens, type Signing } from '../signing/demand.ts'
import { ALLOW_PROGRAMS, programsField } from '../signing/flags.ts'
import { previewLines } from '../signing/preview.ts'
import { ACT_CALLS, ACT_SIGNING, runAct } from '../signing/run-act.ts'
import { printable } from '../ui/render.ts'

type Instruction = Parameters<typeof JUPITER_LOCK.data>[0]

/** A call of the program with these accounts, and with exactly these arguments: no accounts of a transfer hook follow. */
export const lockCall = <Name extends Instruction>(
  call: Name,
  accounts: Call['fields'],
  args: Parameters<typeof JUPITER_LOCK.data<Name>>[1],
): Call => ({
  program: JUPITER_LOCK.id,
  call,
  fields: { ...accounts, ...args },
  data: hexOf(JUPITER_LOCK.data(call, args)),
})

/** The texts of a lock. Nobody's e-mail address is published. */
export function textsCall(payer: string, escrow: string, { title: name, description }: LockTexts): Call {
  const texts = { name, description, creator_email: '', recipient_email: '' }
  return lockCall('create_vesting_escrow_metadata', { escrow, creator: payer, payer }, texts)
}

/** Closes the lock of the payer, to which the rent returns. */
export async function closingCall({ payer, accounts }: Signing, { address, mint }: LockAt): Promise<Call> {
  const own = await accounts(mint, payer)
  return lockCall('close_vesting_escrow', { escrow: address, creator: payer, creator_token: own }, {})
}
type LockAt = Pick<LockRead, 'address' | 'mint'>

export const LOCK_CALLS = [...ACT_CALLS, paths.locks.get]
/** The API calls it `address`. */
export const lockAddress = (about = 'Address of the lock') => text(about, { placeholder: 'LOCK', field: 'address' })
export const LOCK = required(lockAddress())

/** The lock with the address that was typed, whatever the API says of it. */
export const readLock = async ({ client }: Session, address: string): Promise<LockRead> => ({
  ...(await client.locks.get({ address })).data,
  address,
})

const cancelVerb = verb({
  about: 'End a lock: the recipient gets what has unlocked, and the creator the rest',
  details: 'Only who was named when it was made can. If the creator cancels, the rent returns in the same transaction.',
  calls: [paths.locks.cancel, ...LOCK_CALLS],
  args: { lock: LOCK },
  flags: ACT_SIGNING,
  examples: [
    'svc locks cancel GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222',
    'svc locks cancel GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 -k id.json --dry-run',
  ],
  async run({ lock: address, ...flags }, session) {
    const lock = await readLock(session, address)
    const { mint, creator, recipient, decimals } = lock
    return runAct(session, flags, {
      what: `Cancel the lock ${address} of ${mint}`,
      call: (body, options) => session.client.locks.cancel({ address, ...body }, options),
      demand: demanding('it pays the recipient what has unlocked, and the creator the rest', async (of) => {
        const paid = {
          creator_token: await of.accounts(mint, creator),
          recipient_token: await of.accounts(mint, recipient),
          rent_receiver: creator,
        }
        return [
          opens(of.payer, [creator, recipient], mint, 2),
          lockCall('cancel_vesting_escrow', { escrow: address, token_mint: mint, ...paid, signer: of.payer }, {}),
          ...(of.payer === creator ? [await closingCall(of, lock)] : []),
        ]
      }),
      preview: ({ to_recipient, to_creator }) =>
        previewLines({
          recipient: `${recipient} gets ${tokensText(to_recipient, decimals)}`,
          creator: `${creator} gets ${tokensText(to_creator, decimals)}`,
        }),
      show({ to_recipient, to_creator, closes }) {
        return { address, mint, creator, recipient, to_recipient, to_creator, closes }
      },
      decimals: unitsOfAll(['to_recipient', 'to_creator'], decimals),
    })
  },
})

const transferVerb = verb({
  about: 'Give a lock to another recipient, with everything that is not claimed',
  details:
    'Only who was named when it was made can. The new recipient also gets what has unlocked and is not claimed: claim it first to keep it.',
  calls: [paths.locks.changeRecipient, ...LOCK_CALLS],
  args: { lock: LOCK, new_recipient: required(text('Wallet that gets it', { placeholder: 'WALLET' })) },
  flags: { allow_programs: ALLOW_PROGRAMS, ...ACT_SIGNING },
  examples: [
    'svc locks transfer GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78',
    'svc locks transfer GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78 --dry-run',
  ],
  async run({ lock: address, new_recipient, allow_programs, ...flags }, session) {
    const lock = await readLock(session, address)
    const terms = { address, new_recipient, ...programsField({ allow_programs }) }
    return runAct(session, flags, {
      what: `Give the lock ${address} of ${lock.mint} to ${new_recipient}`,
      call: (body, options) => session.client.locks.changeRecipient({ ...terms, ...body }, options),
      demand: demanding('it gives this lock to this wallet, and changes nothing else', ({ payer: signer }) => [
        lockCall('update_vesting_escrow_recipient', { escrow: address, signer }, { new_recipient }),
      ]),
      preview: ({ recipient, claimable }) =>
        previewLines({
          'until now': recipient,
          'from now': new_recipient,
          'with it': claimable !== '0' && `${tokensText(claimable, lock.decimals)} that can be claimed now`,
        }),
      show: ({ mint, recipient, claimable }) => ({ address, mint, recipient, new_recipient, claimable }),
      decimals: { claimable: lock.decimals },
    })
  },
})

const updateVerb = verb({
  about: 'Write the title and description of a lock that has none',
  details: 'Its creator can, once: the program never changes them. Everybody can read them.',
  calls: [paths.locks.entitle, ...LOCK_CALLS],
  args: { lock: LOCK },
  flags: {
    title: required(text('Title, at most 64 bytes')),
    description: text('Description, at most 200 bytes'),
    ...ACT_SIGNING,
  },
  examples: [
    'svc locks update GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 --title Team',
    'svc locks update GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 --title Team --description "Three years" --dry-run',
  ],
  async run({ lock: address, title, description, ...flags }, session) {
    const request = { address, title, ...(description === undefined ? {} : { description }) }
    const texts = { title, description: description ?? '' }
    return runAct(session, flags, {
      what: `Write the title of the lock ${address}, for good`,
      call: (body, options) => session.client.locks.entitle({ ...request, ...body }, options),
      demand: demanding('it writes these texts, and changes nothing else', ({ payer }) => [
        textsCall(payer, address, texts),
      ]),
      preview: ({ rent }) =>
        previewLines({
          title: printable(title),
          text: description !== undefined && printable(description),
          rent: `${solOf(BigInt(rent))} SOL, which closing the lock returns`,
        }),
      show: () => ({ address, ...texts }),
    })
  },
})

const closeVerb = verb({
  about: 'Close a lock that is claimed or cancelled, which returns its rent to its creator',
  calls: [paths.locks.close, ...LOCK_CALLS],
  args: { lock: LOCK },
  flags: ACT_SIGNING,
  examples: [
    'svc locks close GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222',
    'svc locks close GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 -k id.json --dry-run',
  ],
  async run({ lock: address, ...flags }, session) {
    const lock = await readLock(session, address)
    const { mint } = lock
    return runAct(session, flags, {
      what: `Close the lock ${address} of ${mint}`,
      call: (body, options) => session.client.locks.close({ address, ...body }, options),
      demand: demanding('it closes this lock, and its rent returns to you', async (of) => [
        opens(of.payer, of.payer, mint),
        await closingCall(of, lock),
      ]),
      preview: ({ rent }) => previewLines({ returns: `${solOf(BigInt(rent))} SOL` }),
      show: ({ rent }) => ({ address, mint, rent }),
      decimals: { rent: 9 },
    })
  },
})

export const LOCK_ACTS = { cancel: cancelVerb, transfer: transferVerb, update: updateVerb, close: closeVerb }
