/** Addresses of the internet and ranges of them (CIDR), of IPv4 and IPv6. */
import { BlockList, isIP, SocketAddress } from 'node:net'

/** The shortest notation of an address, without its zone; IPv4 inside IPv6 becomes IPv4. Null for other text. */
export function plainAddress(text: string): string | null {
  const version = isIP(text)
  if (version !== 6) return version === 4 ? text : null
  const { address } = new SocketAddress({ address: text, family: 'ipv6' })
  return address.replace(/^::ffff:(?=\d+\.)/, '')
}

/** A range as `ADDRESS/BITS`; an address alone is a range of one. Null for other text. */
export function addressRange(text: string): string | null {
  const [, written = '', bits] = /^([^/%]*)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const address = plainAddress(written)
  if (address === null) return null
  const most = isIP(written) === 4 ? 32 : 128
  const given = bits === undefined ? most : Number(bits)
  // Of IPv4 inside IPv6, the first 96 bits are not part of the IPv4 address.
  const own = isIP(address) === 4 ? given - (most - 32) : given
  return given > most || own < 0 ? null : `${address}/${own}`
}

/** Returns whether an address of `plainAddress` is in one of the ranges of `addressRange`. */
export function rangeCheck(ranges: readonly string[]): (address: string) => boolean {
  // BlockList would count IPv4 as part of `::/0`, so each family has its own list.
  const lists = { 4: new BlockList(), 6: new BlockList() }
  for (const range of ranges) {
    const [base = '', bits] = range.split('/')
    if (isIP(base) === 4) lists[4].addSubnet(base, Number(bits), 'ipv4')
    else lists[6].addSubnet(base, Number(bits), 'ipv6')
  }
  return (address) => (isIP(address) === 4 ? lists[4].check(address, 'ipv4') : lists[6].check(address, 'ipv6'))
}
