/** The state of the claim page: looks up a wallet, reads its state and sends its claims. */
import { SOL_DECIMALS } from '../../solana/constants.ts'
import { type PlannedClaim, planClaims } from './claim-plan.ts'
import { sendClaim } from './claim-sending.ts'
import { readWalletState, type WalletState } from './claim-state.ts'
import { PageSession } from './page-session.ts'
import { lamportsMissing, MOST_PRIORITY_FEE, SIGNATURE_FEE } from './planned-transaction.ts'
import { requireKey } from './program-addresses.ts'
import type { ClaimSubject } from './site-files.ts'
import { isSponsored, sendSponsoredClaim } from './sponsored-claim.ts'
import { type FoundRow, lookUpWallet } from './wallet-lookup.ts'
import type { ConnectedWallet } from './wallet-standard.ts'

export class ClaimSession extends PageSession<ClaimSubject> {
  rows: readonly FoundRow[] | null = null
  state: WalletState | null = null
  plan: readonly PlannedClaim[] = []
  isSponsored = false

  protected override forget(): void {
    Object.assign(this, { rows: null, state: null, plan: [], isSponsored: false })
  }

  protected override async read(isOld: () => boolean): Promise<void> {
    const { address } = this
    if (address === null) return
    if (this.rows === null) {
      this.say('looking')
      const rows = await lookUpWallet(this.subject, requireKey(address))
      if (isOld()) return
      this.rows = rows
    }
    if (this.rows.length > 0) await this.#readState(isOld)
  }

  async #readState(isOld: () => boolean = () => false): Promise<void> {
    const { address, rows } = this
    if (address === null || rows === null) return
    if (!isOld()) this.say('readingChain')
    const state = await readWalletState(this.node, rows, address)
    const plan = planClaims(state)
    const [first] = plan
    const isPoor = first !== undefined && lamportsMissing(state, first) > 0n
    const payee = first?.pays[0]?.state
    const { sponsor } = this.settings
    const helped = isPoor && sponsor !== null && payee !== undefined ? await isSponsored(sponsor, payee) : false
    if (isOld()) return
    Object.assign(this, { state, plan, isSponsored: helped })
  }

  /** Most SOL that all planned transactions cost, as text. */
  solCosts(): string {
    const costs = this.plan.reduce((sum, { takes }) => sum + takes + SIGNATURE_FEE + MOST_PRIORITY_FEE, 0n)
    return this.texts.tokens(((costs + 9_999n) / 10_000n) * 10_000n, SOL_DECIMALS)
  }

  /** Claims everything that the wallet can claim, one transaction after the other. */
  async claim(): Promise<void> {
    await this.acting(async (wallet) => {
      await this.#readState()
      // A sponsor pays for one airdrop at a time, and the vested part may need its own claim.
      for (let most = 2 * (this.rows?.length ?? 0); most > 0 && this.plan.length > 0; most--) {
        const [planned] = this.plan
        if (planned === undefined || this.state === null) return
        const { signature, pays } = await this.#send(wallet, this.state, planned)
        this.confirm(signature, { key: 'confirmedText', values: { amount: this.#amountsOf(pays), symbol: '' } })
        await this.#readState()
      }
    })
  }

  /** Returns the paid amounts; a sponsored claim pays only those of one airdrop. */
  async #send(wallet: ConnectedWallet, state: WalletState, planned: PlannedClaim) {
    const [first] = planned.pays
    if (this.isSponsored && this.settings.sponsor !== null && first && wallet.canSign) {
      const signature = await sendSponsoredClaim(this.context(), this.settings.sponsor, wallet, first.state)
      return { signature, pays: [first] }
    }
    return { signature: await sendClaim(this.context(), wallet, state, planned), pays: planned.pays }
  }

  #amountsOf(pays: PlannedClaim['pays']): string {
    const sums = new Map<string, { symbol: string; decimals: number; amount: bigint }>()
    for (const { state, amount } of pays) {
      const { mint, symbol, decimals } = state.row.airdrop
      sums.set(mint, { symbol, decimals, amount: amount + (sums.get(mint)?.amount ?? 0n) })
    }
    return [...sums.values()]
      .map(({ amount, decimals, symbol }) => `${this.texts.tokens(amount, decimals)} ${symbol}`)
      .join(' + ')
  }
}
