/** `svc wallet balance`: the SOL and the tokens of a wallet. */
import type { WalletBalances } from '../../src/api/accounts.ts'
import { paths } from '../../src/api/paths.ts'
import { isAddress } from '../../src/solana/addresses.ts'
import { LAMPORT_DECIMALS, wholeOf } from '../cli/amounts.ts'
import { type CommandOutcome, mintAddress, text, verb } from '../cli/command.ts'

const COLUMNS = ['symbol', 'amount', 'mint', 'name', 'account'] as const

export const balance = verb({
  about: 'Show the SOL and the tokens of a wallet, with their symbols',
  details:
    'The maker of a mint chooses its symbol and name, so identify a token by its mint. At most 200 token accounts are shown; --mint shows those of one token.',
  calls: [paths.accounts.balances],
  args: {
    wallet: text('Address, name of a wallet, path of a keypair file or usb://ledger (default: the one in use)', {
      placeholder: 'WALLET',
    }),
  },
  flags: { mint: mintAddress('Only the token of this mint or symbol') },
  examples: [
    'svc wallet balance',
    'svc wallet balance treasury --json',
    'svc wallet balance 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g --mint So11111111111111111111111111111111111111112',
  ],
  async run({ wallet: named, mint }, { client, wallet }) {
    const address = named !== undefined && isAddress(named) ? named : await wallet.address(named)
    const { data } = await client.accounts.balances({ wallet: address, ...(mint === undefined ? {} : { mint }) })
    return balancesOutcome(data)
  },
})

/** SOL comes first; amounts of a mint without decimals stay in raw units. */
function balancesOutcome(data: WalletBalances): CommandOutcome {
  const { wallet, lamports, tokens, empty_accounts, truncated } = data
  const notes = [
    ...(truncated ? [`There are more than these ${tokens.length}: ask for one with --mint`] : []),
    ...(empty_accounts > 0 ? [`${empty_accounts} token accounts are empty`] : []),
    ...(tokens.some(({ frozen }) => frozen) ? ['Some are frozen: --json shows which'] : []),
  ]
  const rows = (amountOf: (raw: string, decimals: number | null) => unknown) => [
    ['SOL', amountOf(lamports, LAMPORT_DECIMALS), null, 'Solana', wallet],
    ...tokens.map(({ symbol, amount, decimals, mint, name, account }) => [
      symbol,
      amountOf(amount, decimals),
      mint,
      name,
      account,
    ]),
  ]
  const whole = (raw: string, decimals: number | null) => (decimals === null ? raw : wholeOf(raw, decimals))
  return {
    data,
    rows: { columns: COLUMNS, rows: rows((raw) => raw) },
    table: { columns: COLUMNS.slice(0, 4), rows: rows(whole).map((row) => row.slice(0, 4)) },
    notes,
  }
}
