/** `svc raises page`: writes the page of a raise as a static site, for any host. */
import { paths } from '../../src/api/paths.ts'
import type { Raise } from '../../src/api/raises.ts'
import { RAISE_PAGE_FORMAT, raiseText, siteCluster } from '../../src/claim-page/site/site-subject.ts'
import { text, verb } from '../cli/command.ts'
import { configFlag, nodeNotes, operatorSite, pageFlags, putSite, tokenShown } from '../ui/page-site.ts'
import { usage } from '../ui/problem.ts'
import { wholeFolder } from '../ui/whole-folder.ts'
import { type AllowlistFile, allowlistFlags, configOf, putProofs, readAllowlist } from './allowlist-file.ts'
import { RAISE_ARG, readProvenRaise } from './proven-raise.ts'

const { get } = paths.raises

export const raisePageVerb = verb({
  about: 'Write the page of a raise as a static site, for any host',
  details:
    'DIR gets the page on which buyers deposit, claim and take back, with relative paths: copy it to any static host with https. It reads every figure from the chain. A raise with an allowlist needs the list, whose proofs are written beside the page. The file of --config is that of claim pages; see docs/claim-pages.md. DIR appears only when it is complete.',
  calls: [get, paths.tokens.get, paths.service.cluster],
  args: { raise: RAISE_ARG },
  flags: {
    ...pageFlags,
    config: configFlag,
    allowlist: text('The list that the raise is open to, a CSV, or - for standard input', {
      placeholder: 'FILE',
      existing: true,
    }),
    ...allowlistFlags,
  },
  examples: [
    'svc raises page GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 --out public/raise --rpc https://rpc.example.com',
    'svc raises page GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 --out public/raise --allowlist allowlist.csv --decimals 9 --replace',
  ],
  async run({ raise: id, out, config, rpc, replace, allowlist, ...units }, session) {
    const kind = { kind: 'page of a raise', file: 'raise.json', format: RAISE_PAGE_FORMAT }
    const folder = await wholeFolder(out, { replace, ...kind })
    const site = await operatorSite('raise-page', { config, rpc })
    const [raise, { data: chain }] = await Promise.all([
      readProvenRaise(session, id),
      session.client.service.cluster({}),
    ])
    requireListGiven(raise, allowlist)
    const list = allowlist === undefined ? null : await readAllowlist(session, allowlist, units, raise)
    const version = list === null ? null : versionOf(raise, list)
    const cluster = siteCluster(chain.genesis_hash)
    const { symbol } = await tokenShown(session.client, raise.mint)
    const { creator_vault: vault } = raise
    await folder.write(async (put) => {
      await putSite(put, site, { symbol, keys: { title: 'raiseTitle', intro: 'raiseIntro' } })
      const named = vault && { multisig: vault.multisig, vault_index: vault.vault_index }
      await put('raise.json', raiseText(cluster, id, named))
      if (list !== null && version !== null) await putProofs(put, list, await configOf(id, version))
    })
    return {
      data: { out, id, cluster: cluster.name, entries: list?.list.count ?? 0 },
      notes: nodeNotes(cluster.name, site.settings.rpc),
    }
  },
})

/** Nobody could buy on the page of a raise with an allowlist without the proofs of it. */
function requireListGiven({ id, allowlist }: Raise, given: string | undefined): void {
  if (allowlist === (given !== undefined)) return
  throw allowlist
    ? usage(`the raise ${id} has an allowlist, whose proofs its page needs: give --allowlist FILE`)
    : usage(`the raise ${id} has no allowlist: everybody may buy`, { param: '--allowlist' })
}

/** The version of the root to which the list leads; throws a usage problem if the raise is not open to this list. */
function versionOf({ id, root, root_version: version }: Raise, { hex }: AllowlistFile): number {
  if (root === hex && version !== null) return version
  throw usage(`the list leads to the root ${hex}, and that of the raise ${id} is ${root ?? 'not stored'}`, {
    param: '--allowlist',
    next: 'give the list that `svc raises open` was given last, or open the raise to this one',
  })
}
