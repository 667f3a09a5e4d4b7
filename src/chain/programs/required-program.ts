/** Checks that the cluster has a program, with an error that names the remedy. */
import { internal } from '../../platform/errors.ts'
import type { Cluster } from '../../settings/cluster.ts'
import type { Program } from '../../solana/programs.ts'

/** Resolves when the chain has the program. Otherwise throws an error that names the program and how to add it. */
export async function requireProgram(chain: ProgramLookup, { name, id }: Program): Promise<void> {
  if (await chain.hasProgram(id)) return
  const next =
    chain.cluster.kind === 'embedded'
      ? 'fill the program cache with `svc localnet pull`'
      : 'choose a cluster that has it (-u, setting url)'
  throw internal(`${name} (${id}) is not on ${chain.cluster.label}: ${next}`, { details: { program: id } })
}

/** The part of the chain that the check uses. */
export interface ProgramLookup {
  cluster: Cluster
  /** Whether the address has an executable account. */
  hasProgram(id: string): Promise<boolean>
}
