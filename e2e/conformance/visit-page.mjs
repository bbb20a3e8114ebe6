// A browser without a screen: goes to the page, and wherever it is sent from there.

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
