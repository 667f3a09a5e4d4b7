/** What the steps of the demo on a chain have in common: which programs are there, files, balances, events. */
import { join } from 'node:path'
import type { Options } from './program.ts'

export function createOnChain({ dataDir, daemon, report }: Options) {
  return {
    /** Reports a step that is skipped because its program is not in the cache. */
    async has(what: string, needed: readonly string[]): Promise<boolean> {
      const { programs } = (await daemon.svc('localnet', 'status')) as { programs: { name: string; loaded: boolean }[] }
      const missing = needed.filter((name) => !programs.some((program) => program.name === name && program.loaded))
      if (missing.length === 0) return true
      report.skip(what, `${missing.join(', ')}: fill the cache with \`svc localnet pull\``)
      return false
    },
    file: (name: string) => join(dataDir, `${name}.json`),
    /** Lamports; 0 if the account does not exist. */
    async lamports(address: string): Promise<bigint> {
      const account = await daemon.svc('accounts', 'get', address).catch(() => null)
      return account === null ? 0n : BigInt(account.lamports)
    },
    /** Raw units in the associated token account. */
    async tokens(owner: string, mint: string, tokenProgram = 'spl'): Promise<bigint> {
      const args = [`owner=${owner}`, `mint=${mint}`, `token_program=${tokenProgram}`]
      const { address } = await daemon.svc('pdas', 'derive', 'ata', ...args)
      const account = await daemon.svc('accounts', 'get', address).catch(() => null)
      return account === null ? 0n : Buffer.from(account.data, 'base64').readBigUInt64LE(64)
    },
    /** Types in the order of their sequence. */
    async eventsAbout(resources: readonly string[], prefix: string): Promise<string[]> {
      const all = (await daemon.svc('events', 'list', '--all')) as {
        type: string
        sequence: number
        data: { object: { resource_id: string } }
      }[]
      return all
        .filter(({ type, data }) => resources.includes(data.object.resource_id) && type.startsWith(prefix))
        .sort((a, b) => a.sequence - b.sequence)
        .map(({ type }) => type)
    },
  }
}
