/** Whether the cluster has a program, and how to get it where it has not. */
import { internal } from '../errors.ts'
import type { Program } from '../solana/programs.ts'
import type { Cluster } from './cluster.ts'

/** Passes when the chain has the program; otherwise says which one is missing and how to get it. */
export async function requireProgram(chain: ProgramLookup, { name, id }: Program): Promise<void> {
  if (await chain.hasProgram(id)) return
  const next =
    chain.cluster.kind === 'embedded'
      ? 'fill the program cache with `svc localnet pull`'
      : 'choose a cluster that has it (-u, setting url)'
  throw internal(`${name} (${id}) is not on ${chain.cluster.label}: ${next}`, { details: { program: id } })
}

/** What of the chain is asked. */
export interface ProgramLookup {
  cluster: Cluster
  /** Whether an executable account is at the address. */
  hasProgram(id: string): Promise<boolean>
}
