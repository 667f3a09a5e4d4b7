/** Shows the choice of wallets, or the chosen one. */
import { button, byId, fill, make, shortAddress } from './elements.ts'
import type { PageSession } from './page-session.ts'
import { keyOfAddress } from './program-addresses.ts'
import type { PageWallet } from './wallet-standard.ts'

/** Typed text stays while wallets appear and disappear. */
let typed = ''
let complaint = ''

/** Looks up an address that was typed, pasted, or is in the URL. */
export async function lookTyped(session: PageSession, text: string): Promise<void> {
  const address = text.trim()
  typed = address
  complaint = keyOfAddress(address) === null ? session.texts.text('lookInvalid') : ''
  await session.look(complaint === '' ? address : null)
  if (complaint === '') byId('result-heading').focus()
}

async function connect(session: PageSession, wallet: PageWallet): Promise<void> {
  if (session.isBusy) return
  complaint = ''
  session.say('walletConnecting', { wallet: wallet.name })
  try {
    const connected = await wallet.connect()
    connected.onChange((address) => {
      if (session.wallet === connected)
        void session.look(null).then(() => (address === null ? undefined : connect(session, wallet)))
    })
    await session.look(connected.address, connected)
    byId('result-heading').focus()
  } catch (error) {
    session.report(error)
  }
}

export function drawWallet(session: PageSession, wallets: readonly PageWallet[]): void {
  const { texts, address, wallet } = session
  byId('wallet').hidden = false
  const body = byId('wallet-body')
  if (address !== null) {
    const leave = button(
      texts.text('walletOther'),
      () => {
        void wallet?.disconnect()
        void session.look(null).then(() => byId('wallet-heading').focus())
      },
      'plain',
    )
    leave.disabled = session.isBusy
    const words = wallet ? texts.text('walletConnected', { wallet: wallet.name }) : texts.text('walletLooked')
    const shown = make('p', { class: 'chosen' }, [shortAddress(address), make('span', { class: 'hint', text: words })])
    // A visitor who looked up an address first can then claim without starting over.
    const offers = wallet === null ? [walletList(session, wallets)] : []
    fill(body, [make('div', { class: 'row' }, [shown, leave]), ...offers])
    return
  }
  const form = lookForm(session)
  const hasFocus = document.activeElement?.id === 'look'
  fill(body, [walletList(session, wallets), form])
  if (hasFocus) byId('look').focus()
}

function walletList(session: PageSession, wallets: readonly PageWallet[]): HTMLElement {
  const { texts } = session
  if (wallets.length === 0) return make('p', { class: 'hint', text: texts.text('walletNone') })
  return make(
    'ul',
    { class: 'wallets', attributes: { 'aria-labelledby': 'wallet-heading' } },
    wallets.map((wallet) => {
      const label = texts.text('walletConnect', { wallet: wallet.name })
      const choice = button('', () => void connect(session, wallet), 'wallet')
      choice.disabled = session.isBusy
      const icon = wallet.icon === null ? null : make('img', { attributes: { src: wallet.icon, alt: '' } })
      choice.append(...(icon ? [icon] : []), make('span', { text: label }))
      return make('li', {}, [choice])
    }),
  )
}

function lookForm(session: PageSession): HTMLElement {
  const { texts } = session
  const input = make('input', {
    attributes: {
      id: 'look',
      type: 'text',
      autocomplete: 'off',
      autocapitalize: 'off',
      spellcheck: 'false',
      maxlength: '64',
      ...(complaint === '' ? {} : { 'aria-invalid': 'true', 'aria-describedby': 'look-fault' }),
    },
  })
  input.value = typed
  input.addEventListener('input', () => {
    typed = input.value
  })
  const form = make('form', { class: 'look' }, [
    make('label', { text: texts.text('lookLabel'), attributes: { for: 'look' } }),
    make('div', { class: 'row' }, [
      input,
      make('button', { text: texts.text('lookButton'), attributes: { type: 'submit' } }),
    ]),
    complaint === ''
      ? null
      : make('p', { class: 'complaint', text: complaint, attributes: { id: 'look-fault', role: 'alert' } }),
  ])
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void lookTyped(session, input.value).then(() => complaint !== '' && byId('look').focus())
  })
  return form
}
