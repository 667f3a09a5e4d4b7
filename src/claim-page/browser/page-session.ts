/** The state that pages of wallets share: the wallet, the node, and what is under way. Sections show this state. */
import { SOL_DECIMALS } from '../../solana/constants.ts'
import { followClaim, type SendingContext } from './claim-sending.ts'
import { foreignWords, PageFault, type TextKey, type TextValues } from './page-fault.ts'
import { nodeUrls } from './page-settings.ts'
import { type PendingClaim, pendingClaimOf } from './pending-claims.ts'
import type { PageSubject, SiteSettings } from './site-files.ts'
import { SolanaNode } from './solana-node.ts'
import type { VisitorTexts } from './texts.ts'
import type { ConnectedWallet } from './wallet-standard.ts'

export interface Message {
  key: TextKey
  values: TextValues
}

/** A transaction that was confirmed while the page is open. */
interface Confirmed {
  signature: string
  message: Message
}

export abstract class PageSession<S extends PageSubject = PageSubject> {
  readonly subject: S
  readonly settings: SiteSettings
  texts: VisitorTexts
  node: SolanaNode
  wallet: ConnectedWallet | null = null
  address: string | null = null
  isBusy = false
  message: Message | null = null
  fault: Message | null = null
  confirmed: Confirmed[] = []
  readonly #draw: () => void
  #turn = 0

  constructor(subject: S, settings: SiteSettings, texts: VisitorTexts, draw: () => void) {
    this.subject = subject
    this.settings = settings
    this.texts = texts
    this.node = new SolanaNode(nodeUrls(subject, settings), subject.genesisHash)
    this.#draw = draw
  }

  /** Forgets what the page knows about the address. */
  protected abstract forget(): void
  /** Reads what the page shows. After each wait it stops if `isOld`, because a later reading began meanwhile. */
  protected abstract read(isOld: () => boolean): Promise<void>

  /** Uses the nodes of the visitor's settings from now on. */
  async changeNode(): Promise<void> {
    this.node = new SolanaNode(nodeUrls(this.subject, this.settings), this.subject.genesisHash)
    if (!this.isBusy) await this.refresh()
  }

  /** Looks a wallet up; `null` resets the page. */
  async look(address: string | null, wallet: ConnectedWallet | null = null): Promise<void> {
    if (this.isBusy) return
    Object.assign(this, { address, wallet, confirmed: [], fault: null, message: null })
    this.forget()
    await this.refresh()
  }

  /** Reads everything again, and follows transactions of the address that were signed earlier. */
  async refresh(): Promise<void> {
    if (this.isBusy) return
    const turn = ++this.#turn
    const isOld = () => turn !== this.#turn
    try {
      this.fault = null
      await this.read(isOld)
      const pending = isOld() || this.address === null ? null : pendingClaimOf(this.address, this.subject.genesisHash)
      if (pending !== null) await this.#resume(pending, isOld)
    } catch (error) {
      if (!isOld()) this.#fail(error)
    } finally {
      if (!isOld()) {
        this.message = null
        this.#draw()
      }
    }
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
    const fault =
      error instanceof PageFault
        ? error
        : new PageFault('unexpected', { words: foreignWords((error as Error)?.message) })
    this.fault = this.told(fault)
  }

  /** A fault with the values that only the session knows. */
  protected told({ key, values }: PageFault): Message {
    const { lamports } = values
    return { key, values: lamports === undefined ? values : { sol: this.solText(BigInt(lamports)) } }
  }

  protected context(): SendingContext {
    return {
      node: this.node,
      genesisHash: this.subject.genesisHash,
      say: (key, values) => this.say(key, values),
    }
  }

  async #resume(pending: PendingClaim, isOld: () => boolean): Promise<void> {
    await this.busy(async () => {
      this.say('resuming')
      const signature = await followClaim({ ...this.context(), say: () => {} }, pending)
      this.confirm(signature, { key: 'confirmedEarlier', values: {} })
      await this.read(isOld)
    })
  }

  /**
   * Does an act of the connected wallet, once what was signed earlier or in another tab is known; `earlier` is the
   * signature of that.
   */
  protected async acting(work: (wallet: ConnectedWallet, earlier: string | null) => Promise<void>): Promise<void> {
    const { wallet, address } = this
    if (wallet === null || wallet.address !== address) return
    await this.busy(async () => {
      const pending = pendingClaimOf(wallet.address, this.subject.genesisHash)
      const earlier = pending && (await followClaim(this.context(), pending))
      await work(wallet, earlier)
    })
  }

  protected confirm(signature: string, message: Message): void {
    this.confirmed = [...this.confirmed, { signature, message }]
  }

  /** Rounded up to a ten-thousandth, so that the amount is enough. */
  protected solText(lamports: bigint): string {
    return this.texts.tokens(((lamports + 99_999n) / 100_000n) * 100_000n, SOL_DECIMALS)
  }

  /** Does the work alone; a fault of it is shown. */
  protected async busy(work: () => Promise<void>): Promise<void> {
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
