/** Tells the name of a wallet from the path of a keypair file, by its letters alone. */
import { usage } from '../ui/problem.ts'

/**
 * Whether `-k` and the setting `keypair` mean a wallet by this text. It does not depend on which files there are, so that
 * no file of a folder is ever taken for the wallet of its name: a file without a dot needs `./` before it.
 */
export const isWalletName = (text: string): boolean => /^\w[\w-]*$/.test(text)

/** Throws a usage problem for a name that no new wallet may have. Capital letters are one name with small ones on some systems. */
export function requireWalletName(name: string): void {
  if (/^[a-z0-9][a-z0-9_-]{0,31}$/.test(name)) return
  throw usage(`a wallet cannot be called ${name}`, {
    param: '<name>',
    next: 'take 1 to 32 of a-z, 0-9, - and _, with a letter or digit first',
  })
}
