/** `svc locks cancel`, `transfer`, `update` and `close`: acts on one lock, by its creator or its recipient. */
import type { LockCancellation, LockClosing, LockRead, LockRecipientChange, LockTitling } from '../../src/api/locks.ts'
import { paths } from '../../src/api/paths.ts'
import { groupedDecimalOf, solOf } from '../cli/amounts.ts'
import { required, text, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { demanding } from '../signing/demand.ts'
import { cancelsLock, closesLock, entitlesLock, givesLock } from '../signing/demanded-locks.ts'
import { ALLOW_PROGRAMS, programsField } from '../signing/flags.ts'
import { previewLine } from '../signing/preview.ts'
import { ACT_CALLS, ACT_SIGNING, runAct } from '../signing/run-act.ts'
import { printable } from '../ui/render.ts'

const demandsCancellation = demanding('it pays the recipient what has unlocked, and the creator the rest', cancelsLock)
const demandsChange = demanding('it gives this lock to this wallet, and changes nothing else', givesLock)
const demandsTexts = demanding('it writes these texts, and changes nothing else', entitlesLock)
const demandsClosing = demanding('it closes this lock, and its rent returns to you', closesLock)

export const LOCK_CALLS = [...ACT_CALLS, paths.locks.get]
/** The API calls it `address`. */
export const lockAddress = (about = 'Address of the lock') => ({
  ...text(about, { placeholder: 'LOCK' }),
  field: 'address',
})
export const LOCK = required(lockAddress())

/** Raw units of a lock in whole tokens, if its mint still exists. */
export const wholeIn = ({ decimals }: Pick<LockRead, 'decimals'>, raw: string): string =>
  decimals === null ? `${raw} raw units` : groupedDecimalOf(BigInt(raw), decimals)

export const decimalsIn = ({ decimals }: Pick<LockRead, 'decimals'>, fields: readonly string[]) =>
  decimals === null ? {} : { decimals: Object.fromEntries(fields.map((name) => [name, decimals])) }

export const readLock = async ({ client }: Session, address: string): Promise<LockRead> =>
  (await client.locks.get({ address })).data

export const cancelVerb = verb({
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
    const { mint, creator, recipient } = lock
    return runAct<LockCancellation>(session, flags, {
      what: `Cancel the lock ${address} of ${mint}`,
      call: (body, options) => session.client.locks.cancel({ address, ...body }, options),
      demand: (of) => demandsCancellation(of, { address, mint, creator, recipient }),
      preview: ({ to_recipient, to_creator }) => [
        previewLine('recipient', `${recipient} gets ${wholeIn(lock, to_recipient)}`),
        previewLine('creator', `${creator} gets ${wholeIn(lock, to_creator)}`),
      ],
      show: ({ to_recipient, to_creator, closes }) => ({
        ...{ address, mint, creator, recipient, to_recipient, to_creator, closes },
      }),
      ...decimalsIn(lock, ['to_recipient', 'to_creator']),
    })
  },
})

export const transferVerb = verb({
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
    return runAct<LockRecipientChange>(session, flags, {
      what: `Give the lock ${address} of ${lock.mint} to ${new_recipient}`,
      call: (body, options) => session.client.locks.changeRecipient({ ...terms, ...body }, options),
      demand: (of) => demandsChange(of, { address, to: new_recipient }),
      preview: ({ recipient, claimable }) => [
        previewLine('until now', recipient),
        previewLine('from now', new_recipient),
        ...(claimable === '0' ? [] : [previewLine('with it', `${wholeIn(lock, claimable)} that can be claimed now`)]),
      ],
      show: ({ mint, recipient, claimable }) => ({ address, mint, recipient, new_recipient, claimable }),
      ...decimalsIn(lock, ['claimable']),
    })
  },
})

export const updateVerb = verb({
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
    const texts = { title, description: description ?? '' }
    return runAct<LockTitling>(session, flags, {
      what: `Write the title of the lock ${address}, for good`,
      call: (body, options) =>
        session.client.locks.entitle(
          { address, title, ...(description === undefined ? {} : { description }), ...body },
          options,
        ),
      demand: (of) => demandsTexts(of, { address, texts }),
      preview: ({ rent }) => [
        previewLine('title', printable(title)),
        ...(description === undefined ? [] : [previewLine('text', printable(description))]),
        previewLine('rent', `${solOf(BigInt(rent))} SOL, which closing the lock returns`),
      ],
      show: () => ({ address, ...texts }),
    })
  },
})

export const closeVerb = verb({
  about: 'Close a lock that is claimed or cancelled, which returns its rent to its creator',
  calls: [paths.locks.close, ...LOCK_CALLS],
  args: { lock: LOCK },
  flags: ACT_SIGNING,
  examples: [
    'svc locks close GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222',
    'svc locks close GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 -k id.json --dry-run',
  ],
  async run({ lock: address, ...flags }, session) {
    const { mint } = await readLock(session, address)
    return runAct<LockClosing>(session, flags, {
      what: `Close the lock ${address} of ${mint}`,
      call: (body, options) => session.client.locks.close({ address, ...body }, options),
      demand: (of) => demandsClosing(of, { address, mint }),
      preview: ({ rent }) => [previewLine('returns', `${solOf(BigInt(rent))} SOL`)],
      show: ({ rent }) => ({ address, mint, rent }),
      decimals: { rent: 9 },
    })
  },
})
