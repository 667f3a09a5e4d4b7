/** Reads the CSV of `svc nfts mint --from`: a row for each NFT, and every fault with its line and column. */
import { walletFault, walletKey } from '../../src/merkle/base58.ts'
import type { ListForm } from '../../src/merkle/column-plan.ts'
import { type ColumnInputs, columnChoices, type ListNotes } from '../lists/column-flags.ts'
import { type PlacedFault, type PlacedRow, readListRows } from '../lists/csv.ts'
import type { Ui } from '../ui/ui.ts'

export interface NftRow {
  name: string
  uri: string
  /** The owner's address; null for the payer. */
  owner: string | null
  line: number
}

const NFT_COLUMNS = ['name', 'uri', 'owner'] as const
type NftColumn = (typeof NFT_COLUMNS)[number]

const NFT_FORM: ListForm = { reads: ['name', 'uri', 'wallet'], needs: ['name', 'uri'] }
/** The owner is the wallet of the row. */
const ROLES = { name: 'name', uri: 'uri', owner: 'wallet' } as const

/** Throws a usage problem with one line `FILE:LINE:COLUMN: what` for each of the first hundred faults. */
export async function readNftRows(
  ui: Ui,
  file: string,
  columns: ColumnInputs,
  onRead: (notes: ListNotes) => void,
): Promise<NftRow[]> {
  const check = await nftRowChecks()
  const format = {
    form: NFT_FORM,
    choices: columnChoices(columns),
    example: 'name,uri',
    onRead,
    withoutHeader: (cells: number) => (cells > 2 ? ['name', 'uri', 'wallet'] : ['name', 'uri']),
  }
  return readListRows(ui, file, format, (row, faults) => nftRow(row, check, faults))
}

type NftTexts = Record<NftColumn, string>
type NftRowChecks = Record<NftColumn | 'row', (row: NftTexts) => string | undefined>

/** The API's own checks, so that a row that passes here is not refused during the run. */
async function nftRowChecks(): Promise<NftRowChecks> {
  const [{ assetTexts, checkTextSize, nft }, { z }] = await Promise.all([
    import('../../src/api/nfts.ts'),
    import('@hono/zod-openapi'),
  ])
  const firstIssue = (schema: {
    safeParse(value: unknown): { error?: { issues: { message: string }[] } | undefined }
  }) => {
    return (value: unknown) => schema.safeParse(value).error?.issues[0]?.message
  }
  const [name, uri, owner] = [firstIssue(assetTexts.name), firstIssue(assetTexts.uri), firstIssue(nft.shape.asset)]
  const row = firstIssue(z.object(assetTexts).superRefine(checkTextSize))
  return {
    name: (of) => name(of.name),
    uri: (of) => uri(of.uri),
    owner: ({ owner: text }) => {
      if (text === '' || walletKey(text) !== undefined) return undefined
      return owner(text) ?? `is not a wallet: ${walletFault(text)}`
    },
    row: ({ name, uri }) => row({ name, uri }),
  }
}

/** The row, or none if it has a fault, which is added. */
function nftRow({ fields, offset, offsetOf }: PlacedRow, check: NftRowChecks, faults: PlacedFault[]) {
  const cell = (column: NftColumn) => String(fields.get(ROLES[column])?.value ?? '')
  const texts: NftTexts = { name: cell('name'), uri: cell('uri'), owner: cell('owner') }
  const found: PlacedFault[] = NFT_COLUMNS.flatMap((column) => {
    const message = cellFault(column, texts, check)
    return message === undefined ? [] : [{ offset: offsetOf(ROLES[column]), message: `the ${column} ${message}` }]
  })
  const message = found.length === 0 ? check.row(texts) : undefined
  if (message !== undefined) found.push({ offset: offsetOf('uri'), message: `the uri ${message}` })
  faults.push(...found)
  const { name, uri, owner } = texts
  return found.length > 0 ? [] : [{ name, uri, owner: owner === '' ? null : owner, offset }]
}

function cellFault(column: NftColumn, texts: NftTexts, check: NftRowChecks): string | undefined {
  if (column !== 'owner' && texts[column] === '') return 'is missing'
  return texts[column].includes('\uFFFD') ? 'is not UTF-8' : check[column](texts)
}
