/** Offers to fill the program cache before a launch on the embedded chain, which needs programs that are not there. */
import type { PullReport, Session } from '../cli/session.ts'
import { failure } from '../ui/problem.ts'

const DEFAULT_CLUSTER = 'mainnet-beta'

/** Asks on a terminal. Without one nothing happens here, and the error of the launch names the command. */
export async function offerPull({ localnet, ui }: Session): Promise<void> {
  if (!ui.attended) return
  const { missing, owner } = await localnet.missingPrograms()
  if (missing.length === 0) return
  ui.note(`A launch needs ${missing.map(({ name }) => name).join(', ')}, which the program cache lacks.`)
  const answer = await ui.ask({
    message: `Cluster or RPC URL to fetch from (Enter for ${DEFAULT_CLUSTER})`,
    placeholder: DEFAULT_CLUSTER,
    check: () => undefined,
  })
  const programs = missing.map(({ id }) => id)
  const report = await localnet.pull({ programs, cluster: answer || DEFAULT_CLUSTER }, ui.progress('Pulling'))
  requirePulled(report)
  for (const { name, size, sha256 } of pulledPrograms(report)) ui.note(`${name}: ${size} bytes, SHA-256 ${sha256}`)
  if (owner === null) return
  throw failure(`process ${owner} serves the embedded chain, and loads the new programs when it starts`, {
    next: 'restart it, then run the same command again',
  })
}

const pulledPrograms = ({ items }: PullReport) => items.filter(({ kind }) => kind === 'program')

function requirePulled(report: PullReport): void {
  const failed = pulledPrograms(report).find(({ status }) => status === 'failed' || status === 'missing')
  if (failed === undefined) return
  throw failure(`${failed.name} was not fetched: ${failed.error ?? `${report.source} does not have it`}`, {
    next: 'try `svc localnet pull` with another --url, or --from a folder',
  })
}
