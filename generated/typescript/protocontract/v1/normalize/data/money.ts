// Written by protoc-gen-contract 0.1.0. Do not edit.
// Currencies of ISO 4217, their marks, and words beside amounts, as the Python runtime knows them.
// Written by tests/typescript.

/** Digits behind the point by code; none where a currency has no minor unit. */
export const MINOR =
  "AED=2 AFN=2 ALL=2 AMD=2 AOA=2 ARS=2 AUD=2 AWG=2 AZN=2 BAM=2 BBD=2 BDT=2 BMD=2 BND=2 BOB=2 BOV=2 BRL=2 BSD=2 " +
  "BTN=2 BWP=2 BYN=2 BZD=2 CAD=2 CDF=2 CHE=2 CHF=2 CHW=2 CNY=2 COP=2 COU=2 CRC=2 CUP=2 CVE=2 CZK=2 DKK=2 DOP=2 " +
  "DZD=2 EGP=2 ERN=2 ETB=2 EUR=2 FJD=2 FKP=2 GBP=2 GEL=2 GHS=2 GIP=2 GMD=2 GTQ=2 GYD=2 HKD=2 HNL=2 HTG=2 HUF=2 " +
  "IDR=2 ILS=2 INR=2 IRR=2 JMD=2 KES=2 KGS=2 KHR=2 KPW=2 KYD=2 KZT=2 LAK=2 LBP=2 LKR=2 LRD=2 LSL=2 MAD=2 MDL=2 " +
  "MGA=2 MKD=2 MMK=2 MNT=2 MOP=2 MRU=2 MUR=2 MVR=2 MWK=2 MXN=2 MXV=2 MYR=2 MZN=2 NAD=2 NGN=2 NIO=2 NOK=2 NPR=2 " +
  "NZD=2 PAB=2 PEN=2 PGK=2 PHP=2 PKR=2 PLN=2 QAR=2 RON=2 RSD=2 RUB=2 SAR=2 SBD=2 SCR=2 SDG=2 SEK=2 SGD=2 SHP=2 " +
  "SLE=2 SOS=2 SRD=2 SSP=2 STN=2 SVC=2 SYP=2 SZL=2 THB=2 TJS=2 TMT=2 TOP=2 TRY=2 TTD=2 TWD=2 TZS=2 UAH=2 USD=2 " +
  "USN=2 UYU=2 UZS=2 VED=2 VES=2 WST=2 XAD=2 XCD=2 XCG=2 YER=2 ZAR=2 ZMW=2 ZWG=2 BIF=0 CLP=0 DJF=0 GNF=0 ISK=0 " +
  "JPY=0 KMF=0 KRW=0 PYG=0 RWF=0 UGX=0 UYI=0 VND=0 VUV=0 XAF=0 XOF=0 XPF=0 BHD=3 IQD=3 JOD=3 KWD=3 LYD=3 OMR=3 " +
  "TND=3 CLF=4 UYW=4 XAG= XAU= XBA= XBB= XBC= XBD= XDR= XPD= XPT= XSU= XUA=";

/** Codes that ISO 4217 withdrew. */
export const WITHDRAWN_CODES =
  "ADP AFA ALK ANG AOK AON AOR ARA ARP ARY ATS AYM AZM BAD BEC BEF BEL BGJ BGK BGL BGN BOP BRB BRC BRE BRN BRR " +
  "BUK BYB BYR CHC CSD CSJ CSK CUC CYP DDM DEM ECS ECV EEK ESA ESB ESP FIM FRF GEK GHC GHP GNE GNS GQE GRD GWE " +
  "GWP HRD HRK IEP ILP ILR ISJ ITL LAJ LSM LTL LTT LUC LUF LUL LVL LVR MGF MLF MRO MTL MTP MVQ MXP MZE MZM NIC " +
  "NLG PEH PEI PES PLZ PTE RHD ROK ROL RUR SDD SDP SIT SKK SLL SRG STD SUR TJR TMM TPE TRL UAK UGS UGW USS UYN " +
  "UYP VEB VEF VNC XEU XFO XFU XRE YDD YUD YUM YUN ZAL ZMK ZRN ZRZ ZWC ZWD ZWL ZWN ZWR";

/** candidates | primary | part | y: yuan, w: weak, u: unknown | texts, with _ for a space. */
export const MARKS =
  "ARS AUD BBD BMD BND BSD BZD CAD CLP COP CUP DOP FJD GYD HKD JMD KYD LRD MXN NAD NZD PHP SBD SGD SRD TTD TWD " +
  "USD UYU XCD||0||$ ドル 달러;ARS AUD BBD BMD BND BSD BZD CAD CLP COP CUP DOP FJD GYD HKD JMD KYD LRD MXN NAD NZD " +
  "PHP SBD SGD SRD TTD TWD USD UYU XCD||0|w|dollar dollars;ARS CLP COP CUP DOP MXN PHP UYU||0|w|peso pesos;ARS " +
  "CLP COP CUP DOP MXN PHP UYU||0||比索 披索;USD||0||US$ U.S.$ US_$ $US $_US U$S 美元 美金 美圆 美圓 米ドル;AUD||0||A$ AU$ AU_$ " +
  "AUS$ $A $AU $_AU 澳元 澳币 澳幣 澳大利亚元 豪ドル;CAD||0||CA$ CAN$ Can$ CDN$ CA_$ $CA $CAN $_CA 加元 加币 加幣 加拿大元 カナダドル;CAD " +
  "NIO|CAD|0||C$ C_$;NZD||0||NZ$ NZ_$ $NZ $_NZ 新西兰元 纽元 紐元 纽币 紐幣;HKD||0||HK$ HK_$ $HK $_HK 港币 港幣 香港ドル;HKD||0|y|港元 " +
  "港圆 港圓;SGD||0||S$ SG$ SG_$ $SG $_SG 新加坡元 新加坡币 坡币 新元;TWD||0||NT$ NT_$ $NT 新台币 新台幣 新臺幣 台币 台幣 臺幣 台湾ドル;TWD||0|w|NTD " +
  "ntd;TWD||0|y|新台币元;MOP||0||MOP$ 澳门币 澳門幣 葡币 葡幣;MOP||0|y|澳门元 澳門元;MXN||0||MX$ MEX$ Mex$ $MX 墨西哥比索;PHP||0||₱ 菲律宾比索 " +
  "菲律賓披索;ARS||0||AR$ $AR;CLP||0||CL$ $CL;COP||0||COL$ Col$ $CO;CUP||0||CU$;DOP||0||RD$;UYU||0||$U UY$ " +
  "$UY;XCD||0||EC$ $EC;JMD||0||J$ JM$ JA$;TTD||0||TT$ $TT;BBD||0||Bds$ BDS$;BND " +
  "BSD||0||B$;BSD||0||BS$;BND||0||BN$ $BN;BZD||0||BZ$ $BZ;BMD||0||BM$ $BM;BBD BMD||0||BD$;GYD||0||G$ " +
  "GY$;LRD||0||L$ LD$;NAD||0||N$ $NA;FJD||0||FJ$ $FJ;SBD||0||SI$ $SB;KYD||0||KY$ CI$;SRD||0||Sr$ " +
  "$SR;TOP||0||T$;WST||0||WS$ $WS;BRL||0||R$ BR$ R_$ 雷亚尔 巴西雷亚尔;BRL||0|w|real reais;CNY JPY||0||¥;CNY||0||CN¥ ¥CN " +
  "人民币 人民幣;CNY||0|w|RMB rmb yuan renminbi;CNY||0|y|人民元;JPY||0||JP¥ ¥JP 日元 日圆 日圓 日円 日币 日幣;JPY||0|w|円 yen 엔;CNY HKD " +
  "MOP TWD||0|yw|圓;CNY HKD MOP TWD|CNY|0|yw|元 圆 块 塊;CNY HKD MOP TWD|CNY|0|y|元钱 块钱;EGP FKP GBP GIP LBP SDG SHP SSP " +
  "SYP|GBP|0||£ ポンド;EGP FKP GBP GIP LBP SDG SHP SSP SYP|GBP|0|w|pound pounds 镑 鎊;GBP||0||GB£ UK£ £GB £stg 英镑 英鎊 " +
  "英ポンド جنيه_إسترليني;EGP||0||E£ £E EG£ جنيه_مصري;EGP||0|w|L.E. LE ج.م ج.م.;FKP||0||FK£ £FK;GIP||0||GI£ " +
  "£GI;LBP||0||L£ £LB;LBP||0|w|L.L. ل.ل ل.ل.;SSP||0||SS£;DKK ISK NOK SEK||0|w|kr kr. krone krona;DKK ISK NOK " +
  "SEK||0||克朗;DKK NOK||0|w|kroner;SEK||0|w|Skr kronor;SEK||0||瑞典克朗;DKK||0|w|Dkr " +
  "Dkr.;DKK||0||丹麦克朗;NOK||0|w|Nkr;NOK||0||挪威克朗;ISK||0|w|Ikr krónur;ISK||0||冰岛克朗;BIF CDF CHF DJF GNF KMF RWF XAF " +
  "XOF XPF|CHF|0|w|Fr Fr.;BIF CDF CHF DJF GNF KMF RWF XAF XOF XPF||0|w|franc francs;BIF CDF CHF DJF GNF KMF RWF " +
  "XAF XOF XPF||0||法郎;CHF||0|w|SFr SFr. Sfr.;CHF||0||瑞士法郎 瑞郎 スイスフラン;XAF XOF||0|w|FCFA CFA;XAF " +
  "XOF||0||F_CFA;XPF||0|w|FCFP CFPF " +
  "CFP;BIF||0|w|FBu;CDF||0|w|FC;GNF||0|w|FG;DJF||0|w|Fdj;RWF||0|w|FRw;KMF||0|w|CF;INR LKR MUR NPR PKR SCR||0|w|Rs " +
  "Rs. rupee rupees;INR LKR MUR NPR PKR SCR||0||₨ 卢比 盧比 ルピー;INR||0||₹ 印度卢比 印度盧比;LKR||0||රු රු. " +
  "ரூ;NPR||0||नेरू;INR NPR||0||रू रु रु.;EUR||0||€ 欧元 歐元 ユーロ 유로;EUR||0|w|euro euros евро;PLN||0|w|zł zl zloty " +
  "złoty złote złotych;PLN||0||兹罗提;CZK||0|w|Kč Kc koruna korun;CZK||0||捷克克朗;HUF||0|w|Ft forint;HUF||0||福林;MDL " +
  "RON|RON|0|w|lei leu;MDL RON|RON|0||列伊;BYN RUB|RUB|0|w|руб руб. рублей рубля рубль р р. Р Р. ruble rubles " +
  "rouble roubles;BYN RUB|RUB|0||卢布 盧布 ルーブル;RUB||0||₽;UAH||0||₴ 格里夫纳;UAH||0|w|грн грн. hrn гривень гривня гривны " +
  "hryvnia;BYN ETB||0|w|Br;RSD||0|w|din din. дин дин.;BAM||0|w|KM КМ;MKD||0|w|ден ден. den;ALL||0|w|Lek Lekë " +
  "lekë;TRY||0||₺ 土耳其里拉 里拉;TRY||0|w|TL;GEL||0||₾;GEL||0|w|ლარი ლ lari;AMD||0||֏;AMD||0|w|драм;AZN||0||₼;KPW " +
  "KRW|KRW|0||₩;KRW||0||KR₩ 韩元 韓元 韩圆 韓圓 韩币 韓幣 韓圜 ウォン;KRW||0|w|원;THB||0||฿ TH฿ 泰铢 泰銖 バーツ;THB||0|w|baht " +
  "บาท;VND||0||₫ 越南盾 越盾;VND||0|w|đ vnđ đồng;IDR||0|w|Rp Rp. rupiah;IDR||0||印尼盾 印尼卢比;MYR||0|w|RM " +
  "ringgit;MYR||0||马币 馬幣 林吉特 令吉 马来西亚林吉特;KHR||0||៛ 瑞尔;LAK||0||₭ 基普;MNT||0||₮ 图格里克;MNT||0|w|төгрөг;KZT||0||₸ " +
  "坚戈;KZT||0|w|тг тг. тенге;KGS||0||⃀;KGS||0|w|сом;UZS||0|w|сум сўм soʻm so'm;TJS||0|w|сомонӣ;BDT||0||৳ " +
  "塔卡;BDT||0|w|Tk Tk. taka;MVR||0|w|Rf;BTN||0|w|Nu. Nu;MMK||0|w|Ks;MMK||0||缅元 缅币;ILS||0||₪ 谢克尔;ILS||0|w|NIS nis " +
  "shekel shekels ש״ח ש\"ח ש'ח ش.ج;AFN||0||؋;IRR OMR QAR SAR YER||0||﷼ 里亚尔;IRR OMR QAR SAR YER||0|w|riyal riyals " +
  "rial rials ريال;IRR||0|w|ریال;SAR||0||⃁ ريال_سعودي;SAR||0|w|ر.س ر.س.;SAR SCR||0|w|SR;QAR||0|w|QR ر.ق " +
  "ر.ق.;QAR||0||ريال_قطري;OMR||0|w|ر.ع ر.ع.;YER||0|w|ر.ي ر.ي.;AED||0|w|Dhs Dhs. د.إ د.إ.;AED MAD||0|w|Dh DH " +
  "dirham dirhams درهم;AED MAD||0||迪拉姆;KWD||0|w|KD K.D. د.ك د.ك.;KWD||0||دينار_كويتي;BHD||0|w|BD B.D. د.ب " +
  "د.ب.;JOD||0|w|JD د.أ د.أ. د.ا د.ا.;JOD||0||دينار_أردني;IQD||0|w|د.ع د.ع. ع.د;IQD||0||دينار_عراقي;SYP||0|w|ل.س " +
  "ل.س.;BHD DZD IQD JOD KWD LYD RSD TND||0||第纳尔;BHD DZD IQD JOD KWD LYD RSD TND||0|w|dinar dinars " +
  "دينار;ZAR||0|w|R rand;ZAR||0||兰特 南非兰特;EGP GBP SDG SSP||0|w|جنيه;MAD||0|w|د.م د.م.;TND||0|w|DT د.ت " +
  "د.ت.;DZD||0|w|DA د.ج د.ج. دج;DZD||0||دينار_جزائري;LYD||0|w|د.ل د.ل. ل.د;LYD||0||دينار_ليبي;SDG||0|w|ج.س " +
  "ج.س.;MRU||0|w|UM أ.م أ.م.;NGN||0||₦ 奈拉;NGN||0|w|naira;GHS||0||₵ GH₵;GHS||0|w|cedi cedis;KES||0|w|KSh Ksh " +
  "KShs;TZS||0|w|TSh;UGX||0|w|USh;KES SOS TZS UGX||0||先令;KES SOS TZS UGX||0|w|Sh Sh. shilling " +
  "shillings;ETB||0|w|ብር birr;MZN||0|w|MTn " +
  "MT;AOA||0|w|Kz;MWK||0|w|MK;ZMW||0|w|ZK;SLE||0|w|Le;MGA||0|w|Ar;ERN||0|w|Nfk ናቕፋ " +
  "نافكا;STN||0|w|Db;CRC||0||₡;PEN||0||S/ S/. 索尔;PAB||0||B/.;PYG||0||₲;PYG||0|w|Gs Gs. guaraníes;GTQ||0|w|Q;BOB " +
  "VES||0|w|Bs Bs.;VES||0|w|Bs.S Bs.D;AWG XCG||0|w|ƒ;AWG||0|w|Afl.;XCG||0|w|Cg Cg.;VUV||0|w|VT Vt;CNY HKD MOP " +
  "TWD|CNY|-1|w|角 毛 毛钱 毛錢;CNY HKD MOP TWD|CNY|-2|w|分 分钱 分錢;||0|u|₤ ₶ ₣ ₧ ₯ ₠ ₢ ₰ ₷ ₳ ₻ ₥ ₿ ¢ ¤ USDT USDC BTC XBT " +
  "ETH DOGE LTC XRP BNB CNH GBX XXX XTS 比特币 以太坊 美分 欧分 便士 戈比;||0|wu|Ұ ұ DM Kčs Δρχ лв лв. kn öS NAf. Esc. ZAc cent " +
  "cents pence penny centimes céntimos centavos kopecks копеек коп коп. تومان sen 銭";

/** Marks that are found whatever their case: folded, and as they stand where that differs. */
export const FOLDED =
  "以太坊 比特币 sen تومان коп. коп копеек kopecks centavos céntimos centimes penny pence cents cent zac=ZAc xts=XTS " +
  "xxx=XXX gbx=GBX cnh=CNH bnb=BNB xrp=XRP ltc=LTC doge=DOGE eth=ETH xbt=XBT btc=BTC usdc=USDC usdt=USDT " +
  "esc.=Esc. naf.=NAf. δρχ=Δρχ kčs=Kčs afl.=Afl. bs.d=Bs.D bs.s=Bs.S guaraníes نافكا ናቕፋ nfk=Nfk mtn=MTn birr " +
  "shillings shilling ush=USh tsh=TSh kshs=KShs ksh=KSh cedis cedi naira أ.م. أ.م ج.س. ج.س ل.د د.ل. د.ل د.ج. د.ج " +
  "د.ت. د.ت د.م. د.م جنيه ج.م. ج.م 南非兰特 rand دينار dinars dinar 第纳尔 ل.س. ل.س ل.ل. ل.ل ع.د د.ع. د.ع د.ا. د.ا د.أ. " +
  "د.أ د.ب. د.ب b.d.=B.D. د.ك. د.ك k.d.=K.D. 迪拉姆 درهم dirhams dirham د.إ. د.إ dhs.=Dhs. dhs=Dhs ر.ي. ر.ي ر.ع. ر.ع " +
  "ر.ق. ر.ق ر.س. ر.س ریال ريال rials rial riyals riyal 里亚尔 谢克尔 ش.ج shekels shekel nis=NIS taka tk.=Tk. tk=Tk " +
  "сомонӣ soʻm сўм сум сом тенге 图格里克 төгрөг 马来西亚林吉特 林吉特 ringgit rm=RM 印尼卢比 印尼盾 rupiah rp.=Rp. rp=Rp 越南盾 đồng vnđ " +
  "バーツ บาท baht ウォン драм lari ლარი 土耳其里拉 tl=TL lekë=Lekë lek=Lek den ден. ден дин. дин din. din 格里夫纳 hryvnia " +
  "гривны гривня гривень hrn грн. грн ルーブル roubles rouble rubles ruble рубль рубля рублей руб. руб leu lei forint " +
  "ft=Ft 捷克克朗 korun koruna kc=Kc kč=Kč 兹罗提 złotych złote złoty zloty zl zł ユーロ евро euros euro 印度盧比 印度卢比 ルピー " +
  "rupees rupee rs.=Rs. rs=Rs frw=FRw fdj=Fdj fbu=FBu cfp=CFP cfpf=CFPF fcfp=FCFP cfa=CFA fcfa=FCFA スイスフラン 瑞士法郎 " +
  "sfr.=SFr. sfr=SFr francs franc fr.=Fr. fr=Fr 冰岛克朗 krónur ikr=Ikr 挪威克朗 nkr=Nkr 丹麦克朗 dkr.=Dkr. dkr=Dkr 瑞典克朗 " +
  "kronor skr=Skr kroner krona krone kr. kr l.l.=L.L. l.e.=L.E. 英ポンド ポンド pounds pound yen 人民元 人民幣 人民币 renminbi " +
  "yuan rmb=RMB reais real 巴西雷亚尔 雷亚尔 菲律賓披索 菲律宾比索 墨西哥比索 澳門幣 澳门币 澳門元 澳门元 台湾ドル 新台币元 新臺幣 新台幣 新台币 ntd=NTD 新加坡币 新加坡元 " +
  "香港ドル 新西兰元 カナダドル 加拿大元 豪ドル 澳大利亚元 米ドル pesos peso dollars dollar";

/** Powers of ten as words, in lower case. */
export const WORD_POWERS: Readonly<Record<string, number>> = { "thousand": 3, "thousands": 3, "tsd": 3, "tsd.": 3, "тыс": 3, "тыс.": 3, "tys": 3, "tys.": 3, "ribu": 3, "nghìn": 3, "ngàn": 3, "lakh": 5, "lakhs": 5, "lac": 5, "lacs": 5, "million": 6, "millions": 6, "mn": 6, "mln": 6, "mln.": 6, "mio": 6, "mio.": 6, "mill": 6, "mill.": 6, "millionen": 6, "millones": 6, "milioni": 6, "milhões": 6, "milhão": 6, "млн": 6, "млн.": 6, "juta": 6, "triệu": 6, "crore": 7, "crores": 7, "bn": 9, "milliard": 9, "milliards": 9, "milliarde": 9, "milliarden": 9, "mrd": 9, "mrd.": 9, "mlrd": 9, "mlrd.": 9, "mld": 9, "mld.": 9, "млрд": 9, "млрд.": 9, "miliar": 9, "tỷ": 9 };

export const ENGLISH_POWERS: Readonly<Record<string, number>> = { "billion": 9, "billions": 9, "trillion": 12, "trillions": 12 };

/** Words that mean one power in one language and another one in another. */
export const UNSURE_POWERS: readonly string[] = ["billion", "billionen", "billions", "billones", "bio", "bio.", "bln", "jt", "l", "mil", "mila", "mille", "mm", "rb", "tr", "trillion", "trillions"];

export const PERCENT_WORDS: readonly string[] = ["pct", "percent", "percento", "pourcent", "procent", "prozent", "процент"];
