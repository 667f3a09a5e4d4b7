/** URLs are parsed alike however often they were, with letters of any script, and those of this machine are known. */
import { describe, expect, it } from 'vitest'
import { isThisMachine, parseUrl } from '../src/platform/urls.ts'

describe('a URL', () => {
  it('with letters beyond ASCII is one, at the first call and after a hundred thousand', () => {
    let refused = 0
    for (let i = 0; i < 100_000; i++) if (parseUrl('https://bücher.example/') === undefined) refused++
    expect(refused).toBe(0)
    expect(parseUrl('https://bücher.example/')?.host).toBe('xn--bcher-kva.example')
    expect(parseUrl('https://[::1/')).toBeUndefined()
  })

  it('names this machine only as localhost or a loopback address', () => {
    const hostsOf = (...urls: string[]) => urls.map((url) => isThisMachine(new URL(url).hostname))
    expect(hostsOf('http://localhost:1', 'http://127.1/', 'http://[::1]/')).toEqual([true, true, true])
    expect(hostsOf('http://localhost.example/', 'http://127.0.0.1.example/', 'http://10.0.0.1/')).toEqual([
      false,
      false,
      false,
    ])
  })
})
