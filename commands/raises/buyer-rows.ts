/** Reads the CSV of `svc raises deposit|withdraw|claim|refund --from`: an own key in each row, and every fault with its place. */
import { dirname, resolve } from 'node:path'
import type { Session } from '../cli/session.ts'
import { readRows } from '../lists/csv.ts'
import { refuseStandardInput } from '../lists/run.ts'
import { Problem, usage } from '../ui/problem.ts'
import { isDeviceUrl, isWalletName } from '../wallet/names.ts'
import { type ActOfBuyer, type Answer, type BuyerActKind, inRound, type Sale, unitsIn } from './buyer-acts.ts'

const MOST_ROWS = 500

export interface BuyerList {
  kind: BuyerActKind
  sale: Sale
  /** Whether amounts are raw units. */
  raw: boolean
  file: string
  journal: string | undefined
}

export interface BuyerRow {
  line: number
  /** As -k takes it. */
  keypair: string
  wallet: string
  /** Raw units of what is paid; without them the chain alone says how much, and so what is left to do. */
  units: bigint | null
  act: ActOfBuyer
  /** Names it in the journal. */
  id: string
  /** What the API says about it. */
  data: Answer | null
  status: string
  signature: string | null
  error: string | null
}

/** Throws a usage problem with one line `FILE:LINE:COLUMN: what` for each of the first hundred faults. */
export function readKeys(session: Session, { kind, sale: all, raw, file }: BuyerList): Promise<BuyerRow[]> {
  refuseStandardInput(file, '--from')
  const needed = ['keypair', ...(kind.amount === 'needed' ? ['amount'] : [])]
  const columns = ['keypair', ...(kind.amount === undefined ? [] : ['amount']), 'round']
  const withoutHeader = (cells: number) => columns.slice(0, Math.max(1, cells))
  const places = new Map<string, number>()
  return readRows(file, { all: columns, needed, withoutHeader }, needed.join(','), async (row, faults) => {
    /** The value of a cell; undefined after its fault was added. */
    const read = async <T>(column: string, value: (text: string) => T | Promise<T>): Promise<T | undefined> => {
      const text = String(row.fields.get(column)?.value ?? '')
      try {
        if (needed.includes(column) && text === '') throw usage(`the ${column} is missing`)
        return await value(text)
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        const { message, code, next } = error
        faults.push({ offset: row.offsetOf(column), message: code === 'forbidden' ? `${message}: ${next}` : message })
      }
    }
    const sale = await read('round', (text) => inRound(all, text === '' ? 1 : Number(text), 'the round'))
    const units = await read('amount', (text) => {
      if (text === '') return null
      // Nothing in a withdrawal proves the decimals that the API says.
      if (kind.amount === 'optional' && !raw && !all.isSol) throw usage('amounts of this raise need --raw here')
      return unitsIn(all, text, { raw, shown: 'the amount' })
    })
    const own = await read('keypair', async (text) => {
      const isPath = !isWalletName(text) && !isDeviceUrl(text)
      const keypair = isPath ? resolve(dirname(resolve(file)), text) : text
      const wallet = await session.wallet.address(keypair)
      const id = `${sale?.round} ${wallet}`
      const earlier = places.get(id)
      if (earlier !== undefined) throw usage(`the key of ${wallet} is in row ${earlier} too, for the same round`)
      if (places.set(id, places.size + 1).size > MOST_ROWS) throw usage(`more than ${MOST_ROWS} rows: split the list`)
      return { keypair, wallet, id }
    })
    if (sale === undefined || units === undefined || own === undefined) return []
    const act = kind.of(session, sale, { units, raw })
    const open = { data: null, status: `to ${kind.name}`, signature: null, error: null }
    return [{ ...own, ...open, units, act, offset: row.offset }]
  })
}
