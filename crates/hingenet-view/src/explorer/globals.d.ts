// What the script of every page has already when the explorer starts (`page/templates/*.js`).
declare function element<K extends keyof HTMLElementTagNameMap>(tag: K, properties: object, ...children: (Node | string)[]): HTMLElementTagNameMap[K];
declare function drawing(name: string, attributes: Record<string, string | number>, text?: string): SVGElement;
declare function saving(figure: HTMLElement): void;
declare function tabs(box: HTMLElement, number: string | number): void;
