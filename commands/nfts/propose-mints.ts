/** `svc nfts mint --from --squads`: proposes the mint of every row of a CSV, each to its owner. */
import type { NftCreated } from '../../src/api/nfts.ts'
import { uriWarnings } from '../../src/api/uris.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { proposeRows, rowIds } from '../lists/propose-rows.ts'
import { refuseStandardInput } from '../lists/run.ts'
import { readKey } from '../merkle/built-record.ts'
import { approverField, programsField, type SigningFlags, txVersionField } from '../signing/flags.ts'
import type { ActingVault } from '../signing/wallet.ts'
import { counted } from '../ui/words.ts'
import { refuseOwners } from './list-plan.ts'
import { requireAuthority } from './mint-all.ts'
import { demandsMint, type MintList } from './mint-rows.ts'
import { readNftRows } from './rows.ts'

export async function proposeMints(
  session: Session,
  flags: SigningFlags,
  list: MintList,
  acting: ActingVault,
): Promise<CommandOutcome> {
  const { collection, file, platform_id } = list
  refuseStandardInput(file, '--from')
  readKey(collection, '--collection')
  const listed = await readNftRows(file)
  const { name: collectionName } = await requireAuthority(session, collection, acting.vault)
  for (const warning of listed.flatMap(({ uri, line }) => uriWarnings({ [`${file}:${line}`]: uri })).slice(0, 1)) {
    session.ui.warn(warning)
  }
  await refuseOwners(session, list, listed, acting.vault)
  const ids = rowIds(listed.map(({ name, uri, owner }) => JSON.stringify([collection, name, uri, owner])))
  const common = {
    platform_id,
    collection,
    ...programsField(list),
    ...approverField({ squads: acting }),
    ...txVersionField(flags),
  }
  return proposeRows<NftCreated>(session, flags, acting, {
    file,
    journal: list.journal ?? `${file}.proposals.json`,
    question: `${counted(listed.length, 'NFT')} into ${collectionName}`,
    rows: listed.map(({ name, uri, owner, line }, i) => {
      const body = { ...common, name, uri, ...(owner === null ? {} : { owner }) }
      const { nfts } = session.client
      return {
        id: ids[i] ?? '',
        line,
        name,
        run: {
          what: `Mint ${name} into ${collection}, row ${ids[i]}`,
          build: (payer: string) => nfts.create({ ...body, payer }),
          demand: (of, data) => demandsMint(of, { asset: data.asset, collection, owner: owner ?? of.payer, name, uri }),
        },
        tryBuild: async (payer: string) => (await nfts.create({ ...body, payer, dry_run: true })).data,
      }
    }),
  })
}
