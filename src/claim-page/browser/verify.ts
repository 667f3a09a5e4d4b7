/** The worker that reads and recomputes the lists of all trees, so that the page stays responsive. */
import { PageFault, type TextKey } from './page-fault.ts'
import { type ClaimSubject, readSiteFile } from './site-files.ts'
import { type IndexPart, indexEntries, indexRoot, listFault } from './whole-list.ts'

/** The worker's messages to the page: how many rows are checked, and finally whether all are as published. */
export interface CheckReport {
  checked: number
  total: number
  /** Absent until the end. */
  fault?: TextKey | null
  values?: Readonly<Record<string, string>>
}

async function check(subject: ClaimSubject): Promise<void> {
  const tell = (report: CheckReport) => self.postMessage(report)
  const total = subject.index.count
  const parts: IndexPart[] = []
  let checked = 0
  try {
    for (const airdrop of subject.airdrops) {
      const file = `${airdrop.id}/list.bin`
      const rows = await readSiteFile(file, airdrop.rowBytes * airdrop.leafCount)
      const fault = await listFault(rows, airdrop)
      if (fault !== null) return tell({ checked, total, fault, values: { file } })
      parts.push(indexEntries(rows, airdrop, subject.index.bits))
      checked += airdrop.leafCount
      tell({ checked, total })
    }
    const isIndex = (await indexRoot(parts, subject)) === subject.index.root
    tell({ checked, total, fault: isIndex ? null : 'indexDiffers' })
  } catch (error) {
    const { key, values } = error instanceof PageFault ? error : new PageFault('fileUnreachable', { file: 'list.bin' })
    tell({ checked, total, fault: key, values })
  }
}

self.addEventListener('message', ({ data }: MessageEvent<ClaimSubject>) => void check(data))
