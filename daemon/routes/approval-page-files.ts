/** Style and script of the approval page: finds wallets of the wallet standard, and lets one sign the text of a decision. */

export const APPROVAL_STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0;background:#fff;color:#111}main{max-width:40rem;margin:0 auto;padding:1rem;overflow-wrap:anywhere}h1{font-size:1.25rem;line-height:1.35}dt{font-weight:600}dd{margin:0 0 .5rem}#check,#state{font-weight:600}pre{white-space:pre-wrap;font:.8125rem/1.4 ui-monospace,monospace}.code{font:.875rem/1.5 ui-monospace,monospace}#check{border-top:1px solid #767676;padding-top:1rem}#wallets{display:grid;grid-template-columns:repeat(auto-fit,minmax(15rem,1fr));gap:.5rem}button{font:inherit;padding:.75rem 1rem;border:1px solid #1a4fa0;border-radius:.4rem;background:#fff;color:#1a4fa0}button.approved{background:#1a4fa0;color:#fff}button:disabled{opacity:.5}@media(prefers-color-scheme:dark){body{background:#111;color:#eee}button{background:#111;color:#9cc2ff;border-color:#9cc2ff}button.approved{background:#9cc2ff;color:#111}}`

/**
 * Plain JavaScript. The hash is computed here from the transaction: of everything after the signatures, because the
 * blockhash is zero. A transaction of version 1 has its signatures at the end.
 */
export const APPROVAL_SCRIPT = `'use strict'
const data = JSON.parse(document.getElementById('data').textContent)
const show = (id, text) => { document.getElementById(id).textContent = text }
const bytes = Uint8Array.from(atob(data.transaction), (c) => c.charCodeAt(0))
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
function base58(input) {
  let value = 0n, text = ''
  for (const byte of input) value = value * 256n + BigInt(byte)
  for (; value > 0n; value /= 58n) text = ALPHABET[Number(value % 58n)] + text
  for (const byte of input) { if (byte !== 0) break; text = '1' + text }
  return text
}
function messageOf(raw) {
  if (raw[0] === 129) return raw.slice(0, raw.length - 64 * raw[1])
  return raw.slice(1 + 64 * raw[0])
}
async function check() {
  if (!globalThis.crypto || !crypto.subtle) {
    show('check', 'This browser computes no hash here: open the link with https.')
    return false
  }
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', messageOf(bytes)))
  const hex = [...hash].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  const fits = hex === data.message_sha256 && data.texts.approved.includes(hex) && data.texts.rejected.includes(hex)
  show('check', fits ? 'Checked here: the hash is that of the transaction.' : 'Do not sign: the hash is not that of the transaction.')
  return fits
}
const wallets = []
function register(...found) {
  for (const wallet of found) {
    if (!wallet.features['standard:connect'] || !wallet.features['solana:signMessage'] || wallets.includes(wallet)) continue
    wallets.push(wallet)
    for (const decision of ['approved', 'rejected']) {
      const button = document.createElement('button')
      button.className = decision
      button.textContent = (decision === 'approved' ? 'Approve with ' : 'Reject with ') + String(wallet.name).slice(0, 40)
      button.addEventListener('click', () => run(wallet, decision))
      document.getElementById('wallets').append(button)
    }
  }
  return () => {}
}
const buttons = () => [...document.getElementById('wallets').children]
async function run(wallet, decision) {
  for (const button of buttons()) button.disabled = true
  try {
    show('state', await decide(wallet, decision))
  } catch (error) {
    const why = String((error && error.message) || error).slice(0, 500)
    show('state', 'Nothing was recorded. ' + (why.endsWith('.') ? why : why + '.'))
  }
  for (const button of buttons()) button.disabled = false
}
async function decide(wallet, decision) {
  show('state', 'Connect in your wallet.')
  const { accounts } = await wallet.features['standard:connect'].connect()
  const account = accounts.find(({ address }) => data.approvers.includes(address)) || accounts[0]
  if (!account) throw new Error('The wallet shows no account.')
  const message = new TextEncoder().encode(data.texts[decision])
  show('state', 'Sign the text in your wallet.')
  const [signed] = await wallet.features['solana:signMessage'].signMessage({ account, message })
  show('state', 'Recording your decision.')
  const sent = JSON.stringify({ approver: account.address, signature: base58(signed.signature), decision })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(location.href, { method: 'POST', headers, body: sent }).catch(() => null)
  const body = answer && await answer.json().catch(() => null)
  if (!body || answer.status >= 500) return 'The server did not say that it was recorded: open the link again to see.'
  if (!answer.ok) throw new Error(body.error.message)
  const { status, fault } = body.data
  document.getElementById('wallets').replaceChildren()
  return 'Recorded. The act is ' + status + '.' + (fault ? ' It was not executed: ' + fault + '.' : '')
}
async function start() {
  if (!(await check()) || data.closed) return
  const api = Object.freeze({ register })
  addEventListener('wallet-standard:register-wallet', (event) => event.detail(api))
  dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: api }))
  setTimeout(() => { if (wallets.length === 0) show('state', 'No wallet that signs messages was found in this browser.') }, 2000)
}
start()
`
