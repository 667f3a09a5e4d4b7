/** Reads the keypair URL of a Ledger, in the form of the Solana command line: `usb://ledger[/PUBKEY][?key=ACCOUNT[/CHANGE]]`. */
import { keyFromBase58 } from '../../src/merkle/base58.ts'
import { usage } from '../ui/problem.ts'

/** Which device signs, and with which of its keys. */
export interface LedgerLocator {
  /** The public key that the device must have at 44'/501' or at the path; undefined is any device. */
  device: string | undefined
  /** The indexes after 44'/501', at most two, each below 2^31. */
  key: readonly number[]
}

const FIRST_NOT_AN_INDEX = 2 ** 31
/** Without a whole URL that has a key: its value would be masked like a credential. */
const FORM =
  'write usb://ledger or usb://ledger/PUBKEY; for another account add a ? and key=0 or key=0/0, all of it in quotes'

/** Throws a usage problem that says which part of the URL is wrong. */
export function ledgerLocator(url: string): LedgerLocator {
  const wrong = (what: string) => usage(`the keypair URL ${what}`, { param: '--keypair', next: FORM })
  if (url.length > 200) throw wrong('is longer than 200 characters')
  const [, maker = '', device = '', query] = /^usb:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i.exec(url) ?? []
  if (maker === '') throw wrong('names no device')
  if (maker.toLowerCase() !== 'ledger') throw wrong(`names the maker "${maker}", and svc signs only with a Ledger`)
  if (device !== '' && keyFromBase58(device) === undefined) throw wrong('has no public key after usb://ledger/')
  return { device: device === '' ? undefined : device, key: query === undefined ? [] : indexesIn(query, wrong) }
}

function indexesIn(query: string, wrong: (what: string) => Error): number[] {
  const [, text] = /^key=(.*)$/.exec(query) ?? []
  if (text === undefined) throw wrong(`has "?${query}", and only ?key= has a meaning`)
  const words = text.split('/')
  if (words.length > 2) throw wrong('has more than two indexes in ?key= instead of ACCOUNT or ACCOUNT/CHANGE')
  return words.map((word) => {
    // The Solana command line accepts the mark of hardened indexes, and hardens all of them anyway.
    const [, digits] = /^(\d{1,10})'?$/.exec(word) ?? []
    if (digits === undefined || Number(digits) >= FIRST_NOT_AN_INDEX)
      throw wrong(`has "${word}" in ?key= and not a number below 2147483648`)
    return Number(digits)
  })
}

/** The URL of a locator; `ledgerLocator` returns the same locator for it. */
export const ledgerUrl = ({ device, key }: LedgerLocator): string =>
  `usb://ledger${device === undefined ? '' : `/${device}`}${key.length === 0 ? '' : `?key=${key.join('/')}`}`

/** The path in which all indexes are hardened: `44'/501'/0'/0'`. */
export const derivationPath = (key: readonly number[]): string =>
  [44, 501, ...key].map((index) => `${index}'`).join('/')
