/** Reads the files of the site of a raise: what it is about, and the lines of the allowlist. Nothing in them is trusted. */
import type { ProvenCap } from '../../../solana/raise-acts.ts'
import type { Raise } from '../../../solana/raises.ts'
import { digestOf, equalBytes, u64Of } from '../bytes.ts'
import { PageFault } from '../page-fault.ts'
import { keyOfAddress, requireKey } from '../program-addresses.ts'
import { clusterOf, fieldsOf, type PageSubject, readJson, textOf } from '../site-files.ts'
import { parentOf } from '../wallet-lookup.ts'

export interface RaiseSubject extends PageSubject {
  raise: string
  /** The vault that should hold the creator's key; the chain has to confirm it. */
  vault: { multisig: string; index: number } | null
}

/** Throws PageFault if the file does not describe a raise as the page needs it. */
export async function readRaiseSubject(): Promise<RaiseSubject> {
  return raiseSubjectOf(await readJson('raise.json'))
}

export function raiseSubjectOf(json: unknown): RaiseSubject {
  const root = fieldsOf(json)
  const [cluster, raise, vault] = [clusterOf(root.cluster), textOf(root.raise), fieldsOf(root.creator_vault)]
  if (root.format !== 'svc-raise-page/1' || cluster === null || keyOfAddress(raise) === null) {
    throw new PageFault('fileDamaged', { file: 'raise.json' })
  }
  const [multisig, index] = [textOf(vault.multisig), vault.vault_index]
  const isVault = keyOfAddress(multisig) !== null && Number.isInteger(index)
  return { ...cluster, raise, vault: isVault ? { multisig, index: (index as number) & 255 } : null }
}

/** A line of the allowlist as the site has it, which may be false. */
export type ClaimedCap = ProvenCap

/** Reads the lines of a wallet beside the page, one file for each round. Throws PageFault for a damaged file. */
export async function readCaps(raise: Raise, wallet: string, read = readJson): Promise<ClaimedCap[]> {
  if (raise.allowlist !== 'merkle') return []
  const found = await Promise.all(raise.rounds.map((_, round) => readCap(`${round}/${wallet}`, round, read)))
  return found.filter((cap) => cap !== null)
}

const MOST_HASHES = 32

async function readCap(file: string, round: number, read: typeof readJson): Promise<ClaimedCap | null> {
  let fields: ReturnType<typeof fieldsOf>
  try {
    fields = fieldsOf(await read(file))
  } catch (error) {
    if (error instanceof PageFault && error.key === 'fileMissing') return null
    throw error
  }
  const { merkle_root_config: config, deposit_cap: cap, proof } = fields
  const hashes = Array.isArray(proof) && proof.length <= MOST_HASHES ? proof.map((hash) => Uint8Array.from(hash)) : null
  const isWhole = keyOfAddress(textOf(config)) !== null && /^\d{1,20}$/.test(String(cap))
  if (!isWhole || !hashes?.every(({ length }) => length === 32)) throw new PageFault('fileDamaged', { file })
  return { round, config: textOf(config), cap: BigInt(cap as string), proof: hashes }
}

/** Whether the proof leads from the line to the root. */
export async function isInTree(wallet: string, { round, cap, proof }: ClaimedCap, root: Uint8Array): Promise<boolean> {
  const line = await digestOf(requireKey(wallet), Uint8Array.of(round), u64Of(cap))
  let node = await digestOf(Uint8Array.of(0), line)
  for (const sibling of proof) node = await parentOf(node, sibling)
  return equalBytes(node, root)
}
