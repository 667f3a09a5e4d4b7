/** Distinguishes the name of a wallet, the path of a keypair file and the URL of a device, only by their characters. */
import { usage } from '../ui/problem.ts'

/**
 * Whether this text in `-k` or the setting `keypair` names a wallet. Existing files do not matter, so a file is never
 * mistaken for a wallet of its name: a file without a dot needs `./` before it.
 */
export const isWalletName = (text: string): boolean => /^\w[\w-]*$/.test(text)

/** Whether this text is the URL of a device, such as `usb://ledger`. */
export const isDeviceUrl = (text: string): boolean => /^usb:/i.test(text)

/**
 * Throws a usage problem for a name that no new wallet may have. Some file systems do not distinguish capital letters.
 */
export function requireWalletName(name: string): void {
  if (/^[a-z0-9][a-z0-9_-]{0,31}$/.test(name)) return
  throw usage(`a wallet cannot be called ${name}`, {
    param: '<name>',
    next: 'take 1 to 32 of a-z, 0-9, - and _, with a letter or digit first',
  })
}
