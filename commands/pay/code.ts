/** Shows the QR code of a pay request: on the terminal, and in a file if one is named. */
import type { PayRequest } from '../../src/api/pay-requests.ts'
import type { Session } from '../cli/session.ts'
import { failure, usage } from '../ui/problem.ts'
import { timeText } from '../ui/times.ts'

/** Throws a usage problem unless the value of `--qr` is empty or names a picture. */
export function requireCodeFile(file: string): void {
  if (file === '' || /\.svg$/i.test(file)) return
  throw usage(`--qr writes a file that ends in .svg, not "${file}"`, {
    param: '--qr',
    next: 'give --qr last to see the code here, or --qr=FILE.svg',
  })
}

/** Draws the code, and writes it to the file unless that is empty; false if nobody sees it. */
export async function showCode(
  { ui }: Pick<Session, 'ui'>,
  { link, expires_at }: Pick<PayRequest, 'link' | 'expires_at'>,
  file: string,
): Promise<boolean> {
  requireLink(link)
  const { codeLines, codeSvg } = await import('../ui/qr-code.ts')
  if (file !== '') {
    const { writePicture } = await import('../ui/drawing.ts')
    for (const note of writePicture(file, codeSvg(link), '--qr')) ui.note(note)
  }
  const isDrawn = await ui.draw((columns, isColored) => {
    const lines = codeLines(link, { columns, isColored })
    return lines ?? [`This terminal has ${columns} columns, too few for the QR code. Its content is:`, link]
  })
  if (isDrawn) ui.note(`Scan it with the wallet on your phone, until ${timeText(expires_at)}.`)
  return isDrawn || file !== ''
}

/** Throws a failure for a link that is not an encoded https URL, because a phone opens it and a terminal may print it. */
function requireLink(link: string): void {
  // The embedded chain's own daemon has no https.
  if (/^solana:https?%3A%2F%2F[\w.%~-]{1,1000}$/.test(link)) return
  throw failure('the API answered with a link that is not one of Solana Pay, so no QR code is shown', {
    next: 'check which API answers: `svc config list`',
  })
}
