/** URLs are parsed alike however often they were, with letters of any script. */
import { describe, expect, it } from 'vitest'
import { parseUrl } from '../src/platform/urls.ts'

describe('a URL', () => {
  it('with letters beyond ASCII is one, at the first call and after a hundred thousand', () => {
    let refused = 0
    for (let i = 0; i < 100_000; i++) if (parseUrl('https://bücher.example/') === undefined) refused++
    expect(refused).toBe(0)
    expect(parseUrl('https://bücher.example/')?.host).toBe('xn--bcher-kva.example')
    expect(parseUrl('https://[::1/')).toBeUndefined()
  })
})
