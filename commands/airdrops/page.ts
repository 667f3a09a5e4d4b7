/** `svc airdrops page`: writes the claim page of one or several airdrops as a static site, for any host. */
import type { TreeRecord } from '../../src/api/merkle-trees.ts'
import { paths } from '../../src/api/paths.ts'
import {
  airdropText,
  BLOCK_ROWS,
  blockCount,
  encodeBlock,
  MOST_JSON_BYTES,
  PAGE_FORMAT,
  type SiteAirdrop,
  type SiteCluster,
  subjectText,
} from '../../src/claim-page/site/site-subject.ts'
import { buildBuckets, encodeBucket, type WalletBuckets } from '../../src/claim-page/site/wallet-buckets.ts'
import { canonicalRows, listHash } from '../../src/merkle/entry-list.ts'
import { type MerkleTree, proofAt, toHex } from '../../src/merkle/tree.ts'
import { listOf, required, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { hashTree } from '../merkle/recipients.ts'
import { fetchStoredList } from '../merkle/stored-list.ts'
import { configFlag, nodeNotes, operatorSite, pageFlags, putSite } from '../ui/page-site.ts'
import { failure, usage } from '../ui/problem.ts'
import { type PutFile, wholeFolder } from '../ui/whole-folder.ts'
import { aboutAirdrop } from './about-airdrop.ts'
import { listFlags, requireNamedList, storedRecord } from './stored-list.ts'

export const airdropPageVerb = verb({
  about: 'Write the claim page of airdrops as a static site, for any host',
  details:
    'DIR gets the page, its settings and the lists in small files, with relative paths: copy it to any static host with https. Several ids, such as those of one launch, make one page that finds a wallet in all of them. DIR appears only when it is complete. The file of --config has name, logo, colours, texts, languages, rpc, explorers, sponsor and links; see docs/claim-pages.md.',
  calls: [
    paths.merkleTrees.get,
    paths.merkleTrees.entries,
    paths.airdrops.get,
    paths.accounts.get,
    paths.tokens.get,
    paths.service.cluster,
  ],
  args: { ids: required(listOf('Ids of the airdrops', { placeholder: 'ID' })) },
  flags: {
    out: pageFlags.out,
    config: configFlag,
    rpc: pageFlags.rpc,
    root: listOf('Merkle roots that the stored lists must have, hex, one for each airdrop', {
      placeholder: 'ROOT,ROOT',
    }),
    ...listFlags,
    replace: pageFlags.replace,
  },
  examples: [
    'svc airdrops page 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --out public/claim',
    'svc airdrops page 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw Vx1bq0Zt7nYw4KcGm2RsPd9LhFjE3uTiAoXeCz8BvN5MkQ --out public/claim --config claim.json --rpc https://rpc.example.com --replace',
  ],
  async run({ ids, out, config, rpc, replace, root, ...meant }, session) {
    const twice = ids.find((id, i) => ids.indexOf(id) < i)
    if (twice !== undefined) throw usage(`the airdrop ${twice} is given twice`, { param: 'ids' })
    const folder = await wholeFolder(out, { replace, kind: 'claim page', file: 'airdrops.json', format: PAGE_FORMAT })
    const site = await operatorSite('claim-page', { config, rpc })
    const records: TreeRecord[] = []
    for (const id of ids) records.push(await storedRecord(session, id))
    await requireNamedList(session, records, { ...meant, roots: root ?? [] })
    const parts: SitePart[] = []
    for (const record of records) parts.push(await readPart(session, record))
    const [cluster] = parts.map((part) => part.cluster)
    if (cluster === undefined) throw usage('give the id of an airdrop', { param: 'ids' })
    const index = buildBuckets(parts.map(({ tree }) => tree.list))
    const subject = subjectText(
      cluster,
      parts.map(({ airdrop }) => airdrop),
      index,
    )
    if (Buffer.byteLength(subject) > MOST_JSON_BYTES) {
      throw usage(`${ids.length} airdrops are too many for one page`, { next: 'write several pages' })
    }
    let count = 0
    await folder.write(async (write) => {
      const put: PutFile = (path, content) => {
        count++
        return write(path, content)
      }
      const [airdrop] = parts.map((part) => part.airdrop)
      await putSite(put, site, { symbol: airdrop?.symbol || airdrop?.name || '' })
      await put('airdrops.json', subject)
      await putIndex(put, index)
      for (const part of parts) await putPart(put, part)
    })
    const wallets = index.count
    return {
      data: { out, ids, cluster: cluster.name, leaf_count: wallets, files: count },
      notes: [
        ...nodeNotes(cluster.name, site.settings.rpc),
        ...parts.flatMap(({ airdrop: { id, clawback_at } }) =>
          clawback_at === null
            ? [`${id} is not on chain yet: nobody can claim before \`svc airdrops init ${id}\``]
            : [],
        ),
      ],
    }
  },
})

/** A stored tree with what the page says about it. */
interface SitePart {
  tree: MerkleTree
  airdrop: SiteAirdrop
  cluster: SiteCluster
}

async function readPart(session: Session, record: TreeRecord): Promise<SitePart> {
  const about = await aboutAirdrop(session, record)
  const tree = hashTree(await fetchStoredList(session, record.id, record.leaf_count), session.ui)
  requireStored(tree, record)
  return { tree, ...about }
}

/** A list that does not match its record is not written. */
function requireStored(tree: MerkleTree, { id, root, list_sha256 }: TreeRecord): void {
  if (toHex(tree.root) === root && listHash(tree.list) === list_sha256) return
  throw failure(`the entries of ${id} lead to the root ${toHex(tree.root)}, its record says ${root}`, {
    next: 'the list was replaced meanwhile, or the server runs another version: run the command again',
  })
}

async function putIndex(put: PutFile, index: WalletBuckets): Promise<void> {
  for (let bucket = 0; bucket < 2 ** index.bits; bucket++) {
    await put(`index/${bucket}.bin`, encodeBucket(index, bucket))
  }
}

async function putPart(put: PutFile, { tree, airdrop, cluster }: SitePart): Promise<void> {
  const { list } = tree
  await put(`${airdrop.id}/airdrop.json`, airdropText(cluster, airdrop))
  await put(`${airdrop.id}/list.bin`, canonicalRows(list, 0, list.count))
  for (let block = 0; block < blockCount(list.count); block++) {
    const from = block * BLOCK_ROWS
    const bytes = encodeBlock(list, from, proofAt(tree, from), list.locked !== undefined)
    await put(`${airdrop.id}/rows/${block}.bin`, bytes)
  }
}
