/** `svc airdrops withdraw`: the platform wallet withdraws the rest of a vault after the clawback time. */
import { paths } from '../../src/api/paths.ts'
import { groupedDecimalOf } from '../cli/amounts.ts'
import { required, text, verb } from '../cli/command.ts'
import { TX_VERSION, txVersionField, WAIT } from '../signing/flags.ts'
import { sendByPlatform } from '../signing/platform-wallet.ts'
import { previewLine } from '../signing/preview.ts'
import { mintDecimals } from '../signing/token-state.ts'
import { failure, usage } from '../ui/problem.ts'
import { timeText } from '../ui/times.ts'

export const airdropWithdrawVerb = verb({
  about: 'Withdraw what is left in the vault, once its clawback time has come',
  details:
    'The whole vault goes to the token account that its maker set, no matter who pays the fee. The platform wallet signs. --amount refuses a vault that holds another sum.',
  calls: [paths.airdrops.get, paths.airdrops.withdraw, paths.transactions.get],
  args: { id: required(text('Id of the airdrop')) },
  flags: {
    amount: text('Raw units that the vault must hold (default: any)', { placeholder: 'UNITS' }),
    admin: text('Wallet that must own the receiving account (default: not checked)', { placeholder: 'WALLET' }),
    idempotency_key: text('Repeat the request of an earlier run under its key', {
      placeholder: 'KEY',
      needs: ['amount'],
    }),
    tx_version: TX_VERSION,
    wait: WAIT,
  },
  examples: [
    'svc airdrops withdraw 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw',
    'svc airdrops withdraw 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --admin 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g --yes',
  ],
  async run({ id, amount, admin, idempotency_key, tx_version, wait }, session) {
    if (amount !== undefined && !/^\d{1,20}$/.test(amount)) {
      throw usage(`--amount must be raw units, not "${amount}"`, { param: '--amount' })
    }
    const { data: airdrop } = await session.client.airdrops.get({ id })
    const all = amount ?? airdrop.vault_balance
    if (all === null) throw usage(`${id} has no vault on chain: nothing can be withdrawn`, { param: '<id>' })
    const decimals = await mintDecimals(session, airdrop.mint)
    const shownAmount = decimals === null ? `${all} raw units` : groupedDecimalOf(BigInt(all), decimals)
    const what = `Withdraw ${shownAmount} of ${airdrop.mint}`
    await session.ui.preview([
      what,
      previewLine('vault', airdrop.vault ?? '-'),
      previewLine('goes to', airdrop.clawback_receiver ?? '-'),
      previewLine('possible', airdrop.clawback_at === null ? '-' : `from ${timeText(airdrop.clawback_at)}`),
    ])
    const body = { id, amount: all, ...txVersionField({ tx_version }), ...(admin === undefined ? {} : { admin }) }
    return sendByPlatform(
      session,
      { wait, idempotency_key },
      {
        what,
        async sign(options) {
          const { data } = await session.client.airdrops.withdraw(body, options)
          if (data.mode !== 'signed') throw failure('the API answered without a signature: it did not sign')
          const { mode: _, signature, ...shown } = data
          return { signature, show: () => ({ airdrop: id, ...shown }) }
        },
      },
    )
  },
})
