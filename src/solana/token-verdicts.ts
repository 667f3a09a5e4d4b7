/** Verdicts on the powers that a mint gives to somebody, read from the mint alone: a level, one sentence, and what would close it. */
import {
  CLOCK_SYSVAR,
  COMPUTE_BUDGET_PROGRAM,
  ED25519_PROGRAM,
  FEATURE_PROGRAM,
  INCINERATOR,
  INSTRUCTIONS_SYSVAR,
  LOADERS,
  NATIVE_LOADER,
  OTHER_SYSVARS,
  RENT_SYSVAR,
  SECP256K1_PROGRAM,
  SECP256R1_PROGRAM,
  SLOT_HASHES_SYSVAR,
  SYSTEM_PROGRAM,
  SYSVAR_OWNER,
  VOTE_PROGRAM,
} from './program-ids.ts'
import type { MintExtensions, TransferFee } from './token-extensions.ts'

export interface Verdict {
  level: 'ok' | 'warning' | 'danger' | 'unknown'
  /** What was found, in one sentence. */
  finding: string
  /** What would close the risk; null if nothing has to or can. */
  remedy: string | null
}

/** What a mint and its metadata show about powers over holders. */
export interface MintPowers {
  mintAuthority: string | null
  freezeAuthority: string | null
  metadata: { isMutable: boolean; updateAuthority: string | null } | null
  /** Account with other metadata, which was not read. */
  metadataElsewhere: string | null
  metadataPointerAuthority: string | null
  /** Null for SPL Token. */
  extensions: MintExtensions | null
}

/** The chain's clock, with which a verdict is read. */
export interface VerdictTime {
  epoch: bigint
  unixSeconds: bigint
}

/** A fee above this, in hundredths of a percent, is a danger and no mere warning. */
const HIGH_FEE_BPS = 1_000

/** Addresses of the runtime and the incinerator, chosen as texts: nobody has a key, and no program signs for them. */
const UNSIGNED: readonly string[] = [
  ...[INCINERATOR, SYSTEM_PROGRAM, NATIVE_LOADER, SYSVAR_OWNER, FEATURE_PROGRAM, VOTE_PROGRAM, COMPUTE_BUDGET_PROGRAM],
  ...[ED25519_PROGRAM, SECP256K1_PROGRAM, SECP256R1_PROGRAM, ...LOADERS],
  ...[CLOCK_SYSVAR, RENT_SYSVAR, INSTRUCTIONS_SYSVAR, SLOT_HASHES_SYSVAR, ...OTHER_SYSVARS],
]

/** The holder of an authority; null if nobody can ever sign for it, which is as if it were given up. */
export const usableHolder = (holder: string | null | undefined): string | null =>
  holder == null || UNSIGNED.includes(holder) ? null : holder

export const ok = (finding: string): Verdict => ({ level: 'ok', finding, remedy: null })
export const unknown = (finding: string, remedy: string | null = null): Verdict => ({
  level: 'unknown',
  finding,
  remedy,
})
export const warning = (finding: string, remedy: string | null): Verdict => ({ level: 'warning', finding, remedy })
export const danger = (finding: string, remedy: string | null): Verdict => ({ level: 'danger', finding, remedy })

/** For a sentence, from hundredths of a percent: `12.34 %`. */
export const percentText = (bps: number): string => `${Number((bps / 100).toFixed(2))} %`

export const MINT_VERDICTS = {
  mint_authority({ mintAuthority }) {
    const holder = usableHolder(mintAuthority)
    if (holder === null) return ok(`Nobody can mint more${unsignedText(mintAuthority)}.`)
    return danger(`${holder} can mint any amount.`, 'Its holder gives the mint authority up.')
  },
  freeze_authority({ freezeAuthority }) {
    const holder = usableHolder(freezeAuthority)
    if (holder === null) return ok(`Nobody can freeze what holders have${unsignedText(freezeAuthority)}.`)
    return danger(`${holder} can freeze what any holder has.`, 'Its holder gives the freeze authority up.')
  },
  mutable_metadata: (mint) => metadataVerdict(mint),
  permanent_delegate({ extensions }) {
    const delegate = usableHolder(extensions?.permanentDelegate)
    if (delegate === null) return ok('Nobody can move the tokens of others.')
    return danger(
      `${delegate} can move and burn the tokens of every holder.`,
      'The delegate gives its authority up, permanently.',
    )
  },
  transfer_fee: (mint, { epoch }) => feeVerdict(mint, epoch),
  transfer_hook({ extensions }) {
    const hook = extensions?.transferHook ?? null
    const authority = usableHolder(extensions?.authorities.transfer_hook)
    if (hook !== null) {
      const changeable = authority === null ? '' : `, and ${authority} can replace it`
      return danger(
        `The program ${hook} decides on every transfer${changeable}.`,
        authority === null ? null : 'The hook’s authority removes the program, and gives the authority up.',
      )
    }
    if (authority === null) return ok('Transfers call no other program.')
    return warning(`${authority} can make every transfer call a program.`, 'Its holder gives the hook’s authority up.')
  },
  frozen_by_default({ extensions, freezeAuthority }) {
    const holder = usableHolder(freezeAuthority)
    if (extensions?.isFrozenByDefault) {
      return danger(
        `New accounts are frozen${holder === null ? ', and nobody can thaw them' : ` until ${holder} thaws them`}.`,
        holder === null ? null : 'The freeze authority sets the default state to initialized, and is given up.',
      )
    }
    if (extensions?.hasDefaultState && holder !== null) {
      return warning(`${holder} can make new accounts start frozen.`, 'Its holder gives the freeze authority up.')
    }
    return ok('New accounts can be used at once.')
  },
  pausable({ extensions }) {
    const isPaused = extensions?.isPaused ?? null
    const authority = usableHolder(extensions?.authorities.pause)
    if (isPaused === true) {
      const who = authority === null ? 'nobody can resume them' : `only ${authority} can resume them`
      return danger(
        `All transfers are paused, and ${who}.`,
        authority === null ? null : 'Its holder resumes transfers, and gives the authority up.',
      )
    }
    if (isPaused === null || authority === null) return ok('Nobody can pause transfers.')
    return danger(`${authority} can pause all transfers.`, 'Its holder gives the pause authority up.')
  },
  displayed_amounts: (mint, { unixSeconds }) => displayVerdict(mint, unixSeconds),
  non_transferable: ({ extensions }) =>
    extensions === null || extensions.isTransferable
      ? ok('Holders can transfer the token.')
      : danger('Holders can never transfer the token, so they cannot sell it.', null),
} satisfies Record<string, (mint: MintPowers, time: VerdictTime) => Verdict>

/** Risks that the mint alone decides. */
export type MintRisk = keyof typeof MINT_VERDICTS

const unsignedText = (holder: string | null): string =>
  holder === null ? '' : `: the authority is ${holder}, for which nobody can sign`

function metadataVerdict({ metadata, metadataElsewhere, metadataPointerAuthority }: MintPowers): Verdict {
  const pointing = usableHolder(metadataPointerAuthority)
  if (metadataElsewhere !== null) {
    return unknown(`Its metadata is in the account ${metadataElsewhere}, which is not read.`)
  }
  if (metadata?.isMutable && (metadata.updateAuthority === null || usableHolder(metadata.updateAuthority) !== null)) {
    const who = metadata.updateAuthority ?? 'The update authority'
    return warning(`${who} can change name, symbol and link.`, 'Its holder gives the metadata authority up.')
  }
  if (pointing !== null) {
    return warning(`${pointing} can point the mint at other metadata.`, 'Its holder gives the pointer’s authority up.')
  }
  return ok(metadata === null ? 'The token has no metadata.' : 'Nobody can change name, symbol and link.')
}

function feeVerdict({ extensions }: MintPowers, epoch: bigint): Verdict {
  const fee = extensions?.transferFee ?? null
  if (extensions === null || fee === null) return ok('Transfers cost no fee of the token.')
  const { now, next } = feesAt(fee, epoch)
  const authority = usableHolder(extensions.authorities.transfer_fee_config)
  const highest = Math.max(now.basisPoints, next?.basisPoints ?? 0)
  const raise =
    authority === null ? null : 'The fee’s authority sets it to 0, waits for it, and gives the authority up.'
  const coming = next === null ? '' : `, and ${percentText(next.basisPoints)} from epoch ${next.epoch} on`
  const changeable = authority === null ? '' : `; ${authority} can change it`
  const finding = `Each transfer costs ${percentText(now.basisPoints)} of its amount${coming}${changeable}.`
  if (highest > HIGH_FEE_BPS) return danger(finding, raise)
  if (highest > 0) return warning(finding, raise)
  return authority === null
    ? ok('Transfers cost no fee of the token, and nobody can raise it.')
    : warning(finding, raise)
}

/** The fee of an epoch, and the one that replaces it later. */
export function feesAt(
  { older, newer }: { older: TransferFee; newer: TransferFee },
  epoch: bigint,
): { now: TransferFee; next: TransferFee | null } {
  return epoch >= newer.epoch ? { now: newer, next: null } : { now: older, next: newer }
}

/** Wallets show raw amounts times a multiplier, or with interest: who sets them decides what holders seem to have. */
function displayVerdict({ extensions }: MintPowers, unixSeconds: bigint): Verdict {
  const [interest, scaled] = [extensions?.interestBasisPoints ?? null, extensions?.uiMultiplier ?? null]
  const holders = [
    interest === null ? null : usableHolder(extensions?.authorities.interest_rate),
    scaled === null ? null : usableHolder(extensions?.authorities.scaled_amount),
  ].filter((holder) => holder !== null)
  const next = scaled !== null && scaled.effectiveAt > unixSeconds ? scaled.after : null
  const factor = scaled === null ? 1 : next === null ? scaled.after : scaled.before
  const shown = [
    ...(interest === null || interest === 0 ? [] : [`with ${percentText(interest)} interest a year`]),
    ...(factor === 1 ? [] : [`times ${factor}`]),
    ...(next === null ? [] : [`times ${next} later`]),
  ]
  const [who] = holders
  if (who === undefined && shown.length === 0) return ok('Wallets show the amounts that holders have.')
  const now =
    shown.length === 0 ? 'Wallets show the amounts that holders have' : `Wallets show amounts ${shown.join(', ')}`
  return warning(
    `${now}${who === undefined ? '' : `, and ${holders.join(' and ')} can change what they show`}.`,
    who === undefined ? null : 'Its holder gives the authority over the shown amounts up.',
  )
}
