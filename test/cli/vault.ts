/** A vault with SOL and the commands of its three members: ada proposes, ben and cy approve and execute. */
import { afterAll, expect } from 'vitest'
import { mapped } from '../support/mapped.ts'
import { quickProgramsDir } from '../support/programs.ts'
import { carryOutOn } from '../support/squads.ts'
import type { CommandLine, KeypairFile } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

export type Vault = ReturnType<typeof vaultOf>

/** `open` makes it; from `serve` on, commands find a running service, which follows what they send. */
export function vaultOf(cli: CommandLine) {
  const [ada, ben, cy] = mapped(['ada', 'ben', 'cy'], (name) => cli.keypair(`${name}.json`))
  let served: Served | undefined
  afterAll(() => served?.stop())
  const fund = async (address: string, sol = '100') => cli.json(['localnet', 'airdrop', address, sol])
  const vault = {
    ...{ ada, ben, cy, fund },
    ...{ multisig: '', address: '' },
    /** A service that does not run has no worker: its settings are those of each command. */
    async open(): Promise<void> {
      Object.assign(cli.env, { SVC_PROGRAMS_DIR: quickProgramsDir(), SVC_PRIORITY_FEE: 'none' })
      for (const { address } of [ada, ben, cy]) await fund(address)
      const members = `${ada.address}:propose,${ben.address},${cy.address}`
      const made = await cli.json(['multisig', 'create', '--member', members, '--threshold', '2', '-k', ada.file])
      Object.assign(vault, { multisig: made.multisig, address: made.vault })
      await fund(made.vault)
    },
    async serve(settings: Record<string, string>): Promise<Served> {
      served = await serveHere(cli.dataDir, { SVC_PRIORITY_FEE: 'none', ...settings })
      return served
    },
    /** The flags by which ada proposes. */
    by: () => ['--squads', vault.multisig, '-k', ada.file],
    vote: async (verb: string, id: string, { file }: { file: string }) => cli.json(['proposals', verb, id, '-k', file]),
    /** Ben and cy approve, and cy executes. */
    async carryOut(id: string): Promise<void> {
      if (served === undefined) throw new Error('there is no service')
      await carryOutBy(cli, served, id, [ben, cy])
    },
  }
  return vault
}

/** The members approve a proposal and the last of them executes it, on the service's chain: the proposal is executed then. */
export async function carryOutBy(cli: CommandLine, { local }: Served, id: string, members: readonly KeypairFile[]) {
  const { approver } = await cli.json(['proposals', 'get', id])
  const { multisig, transaction_index } = approver
  const keys = members.map(({ keypair }) => keypair)
  await carryOutOn(await local(), { multisig, index: BigInt(transaction_index), members: keys })
  expect(await cli.json(['proposals', 'get', id])).toMatchObject({ status: 'executed' })
}
