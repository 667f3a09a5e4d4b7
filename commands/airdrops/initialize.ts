/** Puts one airdrop on chain and funds it, once, however often the launch is interrupted. */
import type { TreeRecord } from '../../src/api/merkle-trees.ts'
import type { Session } from '../session.ts'
import { DEMANDS } from '../signing/demands.ts'
import { programsField } from '../signing/flags.ts'
import { type ResumableSigner, runResumable } from '../signing/resumable.ts'
import { failure } from '../ui/problem.ts'
import { type LaunchTerms, launchJournal } from './launch-journal.ts'
import { ownOnChain, type Payer } from './own.ts'
import { chainStateOf, type LaunchPart, type PartState } from './parts.ts'
import type { VestingTimes } from './vesting-flags.ts'

export interface LaunchOptions {
  payer: Payer
  /** Whether the platform wallet signs. */
  signed: boolean
  keypair: string | undefined
  platform_id: string
  clawback_after_days: number | undefined
  vesting: VestingTimes
  allow_programs: boolean
}

/**
 * Returns the airdrop as the chain shows it, with the signature of this run, or null where an earlier run created it.
 */
export async function initializeAirdrop(
  session: Session,
  options: LaunchOptions,
  record: TreeRecord,
): Promise<PartState & Pick<LaunchPart, 'signature'>> {
  const journal = await launchJournal(session, record)
  const before = await ownOnChain(session, options.payer, record)
  if (before !== null) {
    journal.remove()
    return { ...chainStateOf(before, options.payer, record), signature: null }
  }
  const signature = await runResumable(session, {
    journal: journal.of(launchTermsOf(options, record)),
    signer: signerOf(session, options, record),
    unfinished: `the airdrop ${record.id} was not put on chain`,
  })
  const after = await ownOnChain(session, options.payer, record)
  if (after === null) {
    throw failure(`${signature} is confirmed, but the distributor of ${record.id} is not seen on chain yet`, {
      next: 'run the same command again',
      details: { signature },
    })
  }
  return { ...chainStateOf(after, options.payer, record), signature }
}

export const launchTermsOf = (
  { payer, platform_id, clawback_after_days, signed, vesting }: LaunchOptions,
  { root }: Pick<TreeRecord, 'root'>,
): LaunchTerms => ({
  payer: payer.address,
  root,
  platform_id,
  clawback_after_days: clawback_after_days ?? null,
  signed,
  // Left out without vesting, as journals of earlier versions have it.
  ...(vesting.ends_at === undefined ? {} : { vesting }),
})

/** Who signs the launch: the user's keypair, which signs only what it agreed to, or the platform wallet. */
function signerOf(session: Session, options: LaunchOptions, record: TreeRecord): ResumableSigner {
  const body = launchBody(options, record)
  if (options.signed) {
    return {
      async sign(request) {
        const { data } = await session.client.airdrops.create({ ...body, mode: 'signed' }, request)
        if (data.mode !== 'signed') throw failure('the API answered without a signature: it did not sign')
        return data
      },
    }
  }
  const { address } = options.payer
  return {
    address,
    keypair: options.keypair,
    async build() {
      const { data } = await session.client.airdrops.create(body)
      if (data.mode === 'unsigned') return data
      throw failure('the API answered with a signed transaction, though none was asked for')
    },
    demand: (of) => DEMANDS['airdrops launch'](of, { ...record, ...options, deposit: record.total }),
  }
}

const launchBody = (
  { payer, platform_id, clawback_after_days, vesting, allow_programs }: LaunchOptions,
  { mint, airdrop_count, root }: TreeRecord,
) => ({
  payer: payer.address,
  platform_id,
  mint,
  airdrop_count,
  merkle_root: root,
  ...(clawback_after_days === undefined ? {} : { clawback_after_days }),
  ...vesting,
  ...programsField({ allow_programs }),
})
