// A headless browser: opens the page and follows its redirects.

/** @param {string} page */
export async function visitPage(page) {
  let address = page;
  for (let hop = 0; hop < 5; hop += 1) {
    const response = await fetch(address, { redirect: 'manual' });
    await response.arrayBuffer();
    const location = response.headers.get('location');
    if (location === null) return;
    address = new URL(location, address).href;
  }
}
