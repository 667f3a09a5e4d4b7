/** Detects a header in a CSV's first record, and the columns of wallet, amount and locked amount. */
import { keyFromBase58 } from './base58.ts'
import type { CsvScanner } from './csv-scanner.ts'

const WALLET_NAMES = ['wallet', 'address', 'pubkey', 'claimant', 'recipient']
const AMOUNT_NAMES = ['amount', 'amount_unlocked']
const LOCKED_NAMES = ['amount_locked', 'locked_amount', 'locked']

export interface CsvColumns {
  /** Whether the first record is a header instead of a recipient. */
  header: boolean
  wallet: number
  amount: number
  /**
   * Column of the locked amount in the format of Jito and Streamflow (`pubkey,amount_unlocked,amount_locked,category`),
   * or -1.
   */
  locked: number
  /** Number of cells of the first record; records with more cells are rejected. */
  width: number
  /**
   * Whether a third column of exactly three digits is rejected; without a header, `1,000` is more likely an amount than
   * two columns.
   */
  guardThousands: boolean
}

/** The reason why the columns of a header cannot be determined. */
export interface ColumnFault {
  cell: number
  message: string
}

/** Determines the columns from the scanner's current (first) record. */
export function readColumns(scanner: CsvScanner): CsvColumns | ColumnFault {
  const width = scanner.cells
  const names = Array.from({ length: width }, (_, i) =>
    scanner
      .text(i)
      .toLowerCase()
      .replace(/[\s-]+/g, '_'),
  )
  const columnsNamed = (candidates: string[]) => names.flatMap((name, i) => (candidates.includes(name) ? [i] : []))
  const wallets = columnsNamed(WALLET_NAMES)
  const amounts = columnsNamed(AMOUNT_NAMES)
  const lockeds = columnsNamed(LOCKED_NAMES)
  for (const [role, columns] of Object.entries({ wallet: wallets, amount: amounts, 'locked amount': lockeds })) {
    const [first, second] = columns
    if (first !== undefined && second !== undefined) {
      return { cell: second, message: `the header names the ${role} twice: ${names[first]} and ${names[second]}` }
    }
  }
  const locked = lockeds[0] ?? -1
  let [wallet, amount] = [wallets[0], amounts[0]]
  if (wallet !== undefined || amount !== undefined || locked >= 0) {
    // If one of two columns is named, the other column is unambiguous.
    if (width === 2 && locked < 0) {
      if (wallet === undefined && amount !== undefined) wallet = 1 - amount
      else if (amount === undefined && wallet !== undefined) amount = 1 - wallet
    }
    if (wallet === undefined) {
      return { cell: 0, message: `the header has no wallet column; name one of them ${WALLET_NAMES.join(', ')}` }
    }
    if (amount === undefined) {
      return { cell: 0, message: `the header has no amount column; name one of them ${AMOUNT_NAMES.join(' or ')}` }
    }
    return { header: true, wallet, amount, locked, width, guardThousands: false }
  }
  if (width === 1) {
    return { cell: 0, message: 'one column only; a row is wallet,amount separated by a comma' }
  }
  // Names without a digit cannot be amounts, so the record is a header with unknown names.
  if (names.every((name) => /^[\p{L}_()#]+$/u.test(name) && name.length < 32)) {
    if (width === 2) return { header: true, wallet: 0, amount: 1, locked: -1, width, guardThousands: false }
    const message = `the header names neither wallet (${WALLET_NAMES.join(', ')}) nor amount (${AMOUNT_NAMES.join(', ')})`
    return { cell: 0, message }
  }
  const fourColumns =
    width === 4 && keyFromBase58(scanner.text(0)) !== undefined && /^\d+(\.\d+)?$/.test(names[2] ?? '')
  return {
    header: false,
    wallet: 0,
    amount: 1,
    locked: fourColumns ? 2 : -1,
    width,
    guardThousands: !fourColumns && width > 2,
  }
}
