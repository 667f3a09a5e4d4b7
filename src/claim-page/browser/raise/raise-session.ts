/** The state of a raise's page: reads the raise and a wallet's part in it, and sends the wallet's acts. */
import { sendClaim } from '../claim-sending.ts'
import type { PageFault } from '../page-fault.ts'
import { type Message, PageSession } from '../page-session.ts'
import { MOST_PRIORITY_FEE, SIGNATURE_FEE } from '../planned-transaction.ts'
import { type ClaimedCap, type RaiseSubject, readCaps } from './raise-files.ts'
import { arriving, planAct, type RaiseAct } from './raise-plan.ts'
import { type RaisePart, type RaiseState, readRaise, readRaiseState } from './raise-state.ts'

export class RaiseSession extends PageSession<RaiseSubject> {
  state: RaiseState | null = null
  /** Whether a simulation has shown what the page shows. */
  isSimulated: boolean | null = null
  #caps: readonly ClaimedCap[] | null = null

  protected override forget(): void {
    if (this.state !== null) this.state = { ...this.state, wallet: null }
    this.#caps = null
    this.isSimulated = null
  }

  protected override async read(isOld: () => boolean): Promise<void> {
    const { address, node, subject } = this
    this.say(address === null ? 'raiseReading' : 'readingChain')
    const raise = this.state?.raise ?? (await readRaise(node, subject.raise))
    const caps = address === null ? null : (this.#caps ?? (await readCaps(raise, address)))
    const state = await readRaiseState(node, { raise, subject }, address && caps ? { address, caps } : null)
    if (isOld()) return
    this.#caps = caps
    this.state = state
  }

  protected override told(fault: PageFault): Message {
    const { key } = fault
    if (key === 'effectDiffers' || key === 'wouldFail') this.isSimulated = false
    if (key === 'capUnproven' || key === 'raiseForeign') this.state = null
    const { quote, wallet } = this.state ?? {}
    if (key === 'lacksQuote' && quote && wallet) {
      const amount = this.texts.tokens(wallet.quotes.state?.amount ?? 0n, quote.decimals)
      return { key, values: { amount, quote: quote.symbol } }
    }
    return super.told(fault)
  }

  /** Most SOL that opening accounts and the network take, as text. */
  costs(part: RaisePart, rents: bigint): string {
    const opened = part.escrow === null ? rents : 0n
    return this.solText(opened + SIGNATURE_FEE + MOST_PRIORITY_FEE)
  }

  /** Does one act of the connected wallet in a round. */
  async act(act: RaiseAct, round: number, amount = 0n): Promise<void> {
    await this.acting(async (wallet, earlier) => {
      await this.read(() => false)
      // It may be what was signed earlier: the visitor sees that it has arrived, and can do it once more.
      if (earlier !== null && (act === 'deposit' || act === 'withdraw'))
        return this.confirm(earlier, { key: 'confirmedEarlier', values: {} })
      const { state } = this
      const part = state?.wallet?.parts[round]
      if (state === null || part === undefined) return
      const planned = planAct(state, part, act, amount)
      const signature = await sendClaim(this.context(), wallet, state, planned)
      this.isSimulated = true
      const { symbol, decimals } = act === 'claim' ? state.token : state.quote
      const moved = act === 'claim' ? arriving(state, planned.moves) : planned.moves
      const values = { amount: this.texts.tokens(moved, decimals), symbol }
      this.confirm(signature, { key: act === 'deposit' ? 'doneDeposit' : 'confirmedText', values })
      await this.read(() => false)
    })
  }
}
