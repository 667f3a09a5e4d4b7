/** The state of the page: looks up a wallet, reads its state and sends its claims. Sections show this state. */
import { SOL_DECIMALS } from '../../solana/constants.ts'
import { lamportsMissing, MOST_PRIORITY_FEE, type PlannedTransaction, planClaims, SIGNATURE_FEE } from './claim-plan.ts'
import { followClaim, type SendingContext, sendClaim } from './claim-sending.ts'
import { readWalletState, type WalletState } from './claim-state.ts'
import { foreignWords, PageFault, type TextKey, type TextValues } from './page-fault.ts'
import { nodeUrls } from './page-settings.ts'
import { type PendingClaim, pendingClaimOf } from './pending-claims.ts'
import { requireKey } from './program-addresses.ts'
import type { ClaimSubject, SiteSettings } from './site-files.ts'
import { SolanaNode } from './solana-node.ts'
import { isSponsored, sendSponsoredClaim } from './sponsored-claim.ts'
import type { VisitorTexts } from './texts.ts'
import { type FoundRow, lookUpWallet } from './wallet-lookup.ts'
import type { ConnectedWallet } from './wallet-standard.ts'

export interface Message {
  key: TextKey
  values: TextValues
}

/** A claim that was confirmed while the page is open. */
interface ConfirmedClaim {
  signature: string
  /** Raw units by symbol for display; empty for a claim of an earlier visit. */
  amounts: string
}

export class PageSession {
  readonly subject: ClaimSubject
  readonly settings: SiteSettings
  texts: VisitorTexts
  node: SolanaNode
  wallet: ConnectedWallet | null = null
  address: string | null = null
  rows: readonly FoundRow[] | null = null
  state: WalletState | null = null
  plan: readonly PlannedTransaction[] = []
  isSponsored = false
  isBusy = false
  message: Message | null = null
  fault: Message | null = null
  confirmed: ConfirmedClaim[] = []
  readonly #draw: () => void
  #turn = 0

  constructor(
    subject: ClaimSubject,
    settings: SiteSettings,
    texts: VisitorTexts,
    draw: (session: PageSession) => void,
  ) {
    this.subject = subject
    this.settings = settings
    this.texts = texts
    this.node = new SolanaNode(nodeUrls(subject, settings), subject.genesisHash)
    this.#draw = () => draw(this)
  }

  /** Uses the nodes of the visitor's settings from now on. */
  async changeNode(): Promise<void> {
    this.node = new SolanaNode(nodeUrls(this.subject, this.settings), this.subject.genesisHash)
    if (this.address !== null && !this.isBusy) await this.refresh()
  }

  /** Looks a wallet up; `null` resets the page. */
  async look(address: string | null, wallet: ConnectedWallet | null = null): Promise<void> {
    if (this.isBusy) return
    Object.assign(this, {
      address,
      wallet,
      rows: null,
      state: null,
      plan: [],
      confirmed: [],
      fault: null,
      message: null,
    })
    this.isSponsored = false
    if (address === null) {
      this.#turn++
      this.#draw()
      return
    }
    await this.refresh()
  }

  /** Reads everything about the address again, and follows claims that were signed earlier. */
  async refresh(): Promise<void> {
    const { address } = this
    if (address === null || this.isBusy) return
    const turn = ++this.#turn
    const isOld = () => turn !== this.#turn
    try {
      this.fault = null
      this.rows ??= await this.#told('looking', () => lookUpWallet(this.subject, requireKey(address)), isOld)
      if (isOld() || this.rows.length === 0) return
      await this.#readState(isOld)
      const pending = isOld() ? null : pendingClaimOf(address, this.subject.genesisHash)
      if (pending !== null) await this.#resume(pending)
    } catch (error) {
      if (!isOld()) this.#fail(error)
    } finally {
      if (!isOld()) {
        this.message = null
        this.#draw()
      }
    }
  }

  async #readState(isOld: () => boolean = () => false): Promise<void> {
    const { address, rows } = this
    if (address === null || rows === null) return
    const state = await this.#told('readingChain', () => readWalletState(this.node, rows, address), isOld)
    const plan = planClaims(state)
    const [first] = plan
    const isPoor = first !== undefined && lamportsMissing(state, first) > 0n
    const payee = first?.pays[0]?.state
    const { sponsor } = this.settings
    const helped = isPoor && sponsor !== null && payee !== undefined ? await isSponsored(sponsor, payee) : false
    if (isOld()) return
    Object.assign(this, { state, plan, isSponsored: helped })
  }

  async #told<T>(key: TextKey, work: () => Promise<T>, isOld: () => boolean): Promise<T> {
    if (!isOld()) this.say(key)
    return work()
  }

  redraw(): void {
    this.#draw()
  }

  say(key: TextKey, values: TextValues = {}): void {
    this.message = { key, values }
    this.#draw()
  }

  /** Shows a fault from outside of this session's own work. */
  report(error: unknown): void {
    this.#fail(error)
    this.message = null
    this.#draw()
  }

  #fail(error: unknown): void {
    const { key, values } =
      error instanceof PageFault
        ? error
        : new PageFault('unexpected', { words: foreignWords((error as Error)?.message) })
    this.fault = key === 'lacksSol' ? { key, values: { sol: this.solNeeded() } } : { key, values }
  }

  /** Missing SOL of the wallet, as text. */
  solNeeded(): string {
    const missing = this.state && this.plan[0] ? lamportsMissing(this.state, this.plan[0]) : 0n
    // Rounded up to a ten-thousandth, so that the amount is enough.
    const rounded = ((missing + 99_999n) / 100_000n) * 100_000n
    return this.texts.tokens(rounded, SOL_DECIMALS)
  }

  /** Most SOL that all planned transactions cost, as text. */
  solCosts(): string {
    const costs = this.plan.reduce((sum, { rent }) => sum + rent + SIGNATURE_FEE + MOST_PRIORITY_FEE, 0n)
    return this.texts.tokens(((costs + 9_999n) / 10_000n) * 10_000n, SOL_DECIMALS)
  }

  #context(): SendingContext {
    return {
      node: this.node,
      genesisHash: this.subject.genesisHash,
      say: (key, values) => this.say(key, values),
    }
  }

  async #resume(pending: PendingClaim): Promise<void> {
    await this.#busy(async () => {
      this.say('resuming')
      const signature = await followClaim({ ...this.#context(), say: () => {} }, pending)
      this.confirmed = [...this.confirmed, { signature, amounts: '' }]
      await this.#readState()
    })
  }

  /** Claims everything that the wallet can claim, one transaction after the other. */
  async claim(): Promise<void> {
    const { wallet, address } = this
    if (wallet === null || address === null || wallet.address !== address) return
    await this.#busy(async () => {
      // Another tab may have signed meanwhile.
      const pending = pendingClaimOf(address, this.subject.genesisHash)
      if (pending !== null) await followClaim(this.#context(), pending)
      await this.#readState()
      // A sponsor pays for one airdrop at a time, and the vested part may need its own claim.
      for (let most = 2 * (this.rows?.length ?? 0); most > 0 && this.plan.length > 0; most--) {
        const [planned] = this.plan
        if (planned === undefined || this.state === null) return
        const { signature, pays } = await this.#send(wallet, this.state, planned)
        this.confirmed = [...this.confirmed, { signature, amounts: this.#amountsOf(pays) }]
        await this.#readState()
      }
    })
  }

  /** Returns the paid amounts; a sponsored claim pays only those of one airdrop. */
  async #send(wallet: ConnectedWallet, state: WalletState, planned: PlannedTransaction) {
    const [first] = planned.pays
    if (this.isSponsored && this.settings.sponsor !== null && first && wallet.canSign) {
      const signature = await sendSponsoredClaim(this.#context(), this.settings.sponsor, wallet, first.state)
      return { signature, pays: [first] }
    }
    return { signature: await sendClaim(this.#context(), wallet, state, planned), pays: planned.pays }
  }

  #amountsOf(pays: PlannedTransaction['pays']): string {
    const sums = new Map<string, { symbol: string; decimals: number; amount: bigint }>()
    for (const { state, amount } of pays) {
      const { mint, symbol, decimals } = state.row.airdrop
      sums.set(mint, { symbol, decimals, amount: amount + (sums.get(mint)?.amount ?? 0n) })
    }
    return [...sums.values()]
      .map(({ amount, decimals, symbol }) => `${this.texts.tokens(amount, decimals)} ${symbol}`)
      .join(' + ')
  }

  async #busy(work: () => Promise<void>): Promise<void> {
    if (this.isBusy) return
    this.isBusy = true
    this.fault = null
    try {
      await work()
    } catch (error) {
      this.#fail(error)
    } finally {
      this.isBusy = false
      this.message = null
      this.#draw()
    }
  }
}
