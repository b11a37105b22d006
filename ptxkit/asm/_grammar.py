"""The tables of `ptx.lark`. Built by tools/build_grammar.py; not written by hand."""


# Terminal or literal -> its kind, one character.
KINDS = {
'VERSION': 'I', 'TARGET': 'J', 'ADDRESS_SIZE': 'K', 'FILE': 'L', 'LOC': 'M', 'LOC_INTERMEDIATE': 'N',
'PRAGMA': 'O', 'ALIAS': 'P', 'SECTION': 'Q', 'METADATA_SECTION': 'R', 'METADATA_DOMAIN': 'S',
'METADATA': 'T', 'ENTRY': 'U', 'FUNC': 'V', 'CALLPROTOTYPE': 'W', 'TARGETS': 'X', 'ENTRY_FLAG': 'Y',
'ENTRY_NUMBER': 'Z', 'ENTRY_EXTENT': 'a', 'FUNC_FLAG': 'b', 'FUNC_NUMBER': 'c', 'LANGUAGE': 'd',
'LINKAGE': 'e', 'SPACE': 'f', 'TYPE': 'g', 'VECTOR': 'h', 'ALIGN': 'i', 'PTR': 'j', 'ATTRIBUTE': 'k',
'SINGLE': 'l', 'FLOAT': 'm', 'INTEGER': 'n', 'STRING': 'o', 'WARP_SZ': 'p', 'CALL': 'q', 'GENERIC': 'r',
'FUNCTION_NAME': 's', 'SINK': 't', 'INLINED_AT': 'u', 'QUALIFIED': 'v', 'DOTTED': 'w', 'NAME': 'x',
'WORD': 'y', '!=': 'A', '&&': 'B', '<<': 'C', '<=': 'D', '==': 'E', '>=': 'F', '>>': 'G', '||': 'H',
'!': '!', '%': '%', '&': '&', '(': '(', ')': ')', '*': '*', '+': '+', ',': ',', '-': '-', '/': '/',
':': ':', ';': ';', '<': '<', '=': '=', '>': '>', '?': '?', '@': '@', '[': '[', ']': ']', '^': '^',
'{': '{', '|': '|', '}': '}', '~': '~'}

# Word -> kind, for what `PATTERNS` takes for a NAME or a WORD.
KEYWORDS = {
'.version': 'I', '.target': 'J', '.address_size': 'K', '.file': 'L', '.loc': 'M', '.loc_intermediate': 'N',
'.pragma': 'O', '.alias': 'P', '.section': 'Q', '.metadata_section': 'R', '.metadata_domain': 'S',
'.metadata': 'T', '.entry': 'U', '.func': 'V', '.callprototype': 'W', '.branchtargets': 'X',
'.calltargets': 'X', '.explicitcluster': 'Y', '.blocksareclusters': 'Y', '.maxnreg': 'Z',
'.minnctapersm': 'Z', '.maxnctapersm': 'Z', '.maxclusterrank': 'Z', '.minperctamemory': 'Z',
'.maxntid': 'a', '.reqntid': 'a', '.reqnctapercluster': 'a', '.noreturn': 'b', '.abi_preserve': 'c',
'.abi_preserve_control': 'c', '.language': 'd', '.extern': 'e', '.visible': 'e', '.weak': 'e',
'.common': 'e', '.reg': 'f', '.const': 'f', '.global': 'f', '.local': 'f', '.param': 'f', '.shared': 'f',
'.tex': 'f', '.b8': 'g', '.b16': 'g', '.b32': 'g', '.b64': 'g', '.b128': 'g', '.s8': 'g', '.s16': 'g',
'.s32': 'g', '.s64': 'g', '.u8': 'g', '.u16': 'g', '.u32': 'g', '.u64': 'g', '.f16': 'g', '.f16x2': 'g',
'.f32': 'g', '.f64': 'g', '.bf16': 'g', '.bf16x2': 'g', '.tf32': 'g', '.s16x2': 'g', '.u16x2': 'g',
'.pred': 'g', '.texref': 'g', '.samplerref': 'g', '.surfref': 'g', '.v2': 'h', '.v4': 'h', '.v8': 'h',
'.align': 'i', '.ptr': 'j', '.attribute': 'k', 'WARP_SZ': 'p', 'generic': 'r', 'function_name': 's',
'_': 't', 'inlined_at': 'u'}

# Terminal -> regular expression, in the order in which they are tried; literals come after.
PATTERNS = {'SINGLE': '0[fF][\\da-fA-F]{8}(?![\\w$.])',
 'FLOAT': '(?:(?:\\d+\\.\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?|\\d+[eE][+-]?\\d+|0[dD][\\da-fA-F]{16})(?![\\w$.])',
 'INTEGER': '(?:0[xX][\\da-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\\d*)U?(?![\\w$.])',
 'STRING': '"[^"\n]*"|"[^"\n;]*\n[^"]*"',
 'CALL': 'call(?:\\.[\\w$]+(?:::[\\w$]+)*)*(?![\\w$])',
 'QUALIFIED': '(?:[A-Za-z][\\w$]*|[_$%][\\w$]+)\\.[\\w$]+(?![\\w$.]|::)',
 'DOTTED': '(?:[A-Za-z][\\w$]*|[_$%][\\w$]+)(?:\\.[\\w$]+(?:::\\d+:\\d+|::[\\w$]+)*)+',
 'NAME': '[A-Za-z][\\w$]*|[_$%][\\w$]+|_',
 'WORD': '\\.[\\w$]+(?:::\\d+:\\d+|::[\\w$]+)*'}
LITERALS = ('!=', '&&', '<<', '<=', '==', '>=', '>>', '||', '!', '%', '&', '(', ')', '*', '+', ',', '-', '/', ':', ';',
 '<', '=', '>', '?', '@', '[', ']', '^', '{', '|', '}', '~')

# A rule a line: its name, and of each alternative the method (`-` if spliced, `?` if a lone
# child stands for it) and the length. Alternatives are numbered from the first line on.
RULES = """\
___opcode_star_15 -:2 -:1
__address_star_17 -:3 -:3 -:2 -:2
__attributes_star_9 -:3 -:2
__declarator_star_10 -:2 -:1
__entry_directive_star_6 -:3 -:2
__function_header_star_2 -:2 -:1
__function_header_star_3 -:2 -:1
__initializer_star_11 -:3 -:2
__instruction_star_14 -:3 -:2
__metadata_fields_plus_13 -:3 -:2
__parameter_star_5 -:2 -:1
__parameters_star_4 -:3 -:2
__pragma_star_1 -:3 -:2
__section_line_star_12 -:3 -:2
__statement_star_7 -:3 -:2
__target_star_0 -:3 -:2
__variable_star_8 -:3 -:2
__vector_star_16 -:3 -:2
_index -:1 -:1
_inlined -:8
_modifier -:1 -:1 -:1 -:1 -:1
_name -:1 -:1 -:1 -:1
_opcode -:2 -:1 -:2 -:1 -:2 -:1
_section_type -:1 -:1
_specifier -:1 -:1 -:1 -:1
address address:5 address:4 address:4 address:3
alignment alignment:2
arguments arguments:4 arguments:3 arguments:2
attribute attribute:6 attribute:1
attributes attributes:5 attributes:4
base base?:1 base?:1 offset:3 offset:3
bit_and bit_and?:1 binary:3
bit_or bit_or?:1 binary:3
bit_xor bit_xor?:1 binary:3
body body:3
call call:11 call:9 call:9 call:7 call:9 call:7 call:7 call:5 call:10 call:8 call:8 call:6 call:8 call:6 call:6 call:4 call:10 call:8 call:8 call:6 call:8 call:6 call:6 call:4 call:9 call:7 call:7 call:5 call:7 call:5 call:5 call:3
close close:1
conditional conditional?:1 conditional:5
constant constant?:1 constant?:1
count count:3 count:3
debug_name name:1 name:1
debug_symbol debug_symbol?:1 binary:3
declarator declarator:4 declarator:2 declarator:5 declarator:3 declarator:6 declarator:4 declarator:5 declarator:3 declarator:4 declarator:2 declarator:5 declarator:3 declarator:4 declarator:2 declarator:3 declarator:1
dimension dimension:3 dimension:3
element element?:1 field:3
end end:1
entry_directive entry_directive?:1 directive:6 directive:4 directive:2 directive:1 directive:2 directive:3 directive:2
equality equality?:1 binary:3 binary:3
expression expression?:1
func_directive directive:1 directive:2 directive:3 directive:2
function function:2 function:2
function_header function_header:3 function_header:4 function_header:3 function_header:2 function_header:3 function_header:4 function_header:3 function_header:2 function_header:4 function_header:5 function_header:4 function_header:3 function_header:5 function_header:6 function_header:5 function_header:4 function_header:4 function_header:5 function_header:4 function_header:3 function_header:4 function_header:5 function_header:4 function_header:3 function_header:4 function_header:5 function_header:4 function_header:3 function_header:5 function_header:6 function_header:5 function_header:4 function_header:6 function_header:7 function_header:6 function_header:5 function_header:5 function_header:6 function_header:5 function_header:4
generic generic:4
guard guard:2 guard:3
initial_value initial_value?:1 initial_value?:1 initial_value?:1 binary:3 binary:3 mask:4
initializer initializer?:1 vector:4 vector:3 vector:2
instruction instruction:4 instruction:3 instruction:2 instruction:5 instruction:4 instruction:3
item item?:1 item?:1 item?:1 item?:1 item?:1 directive:2 directive:5 directive:7 directive:5 directive:3 directive:2 linked_variable:2
items items:2 items:0
label label:2
label_name name:1
language language?:1 language?:1
logical_and logical_and?:1 binary:3
logical_or logical_or?:1 binary:3
masked masked?:1 masked?:1 masked?:1 binary:3 binary:3
metadata_field metadata_field?:1 unary:2
metadata_fields vector:4
metadata_header metadata_header:2
metadata_integer integer:1
metadata_line directive:3 directive:2
metadata_lines metadata_lines:2 metadata_lines:0
metadata_string string:1
module module:1
name name:2 name:1 name:1
open open:1
operand operand?:1 operand?:1 operand?:1 element:4 pair:3 pair:3
parameter parameter:4 parameter:4 parameter:3 parameter:5 parameter:5 parameter:4 parameter:6 parameter:6 parameter:5 parameter:5 parameter:5 parameter:4 parameter:3 parameter:3 parameter:2 parameter:4 parameter:4 parameter:3 parameter:5 parameter:5 parameter:4 parameter:4 parameter:4 parameter:3
parameters parameters:4 parameters:3 parameters:2
plain_name name:1
pointer pointer:2 pointer:3 pointer:2 pointer:1
pragma directive:4 directive:3
primary float:1 integer:1 name:1 parenthesized:3
product product?:1 binary:3 binary:3 binary:3
relation relation?:1 binary:3 binary:3 binary:3 binary:3
section section:3 section:3
section_header section_header:3
section_integer integer:1 unary:2
section_line section_line?:1 difference:4 directive:2 directive:3 directive:2
section_lines section_lines:2 section_lines:0
section_literal integer:1
shift shift?:1 binary:3 binary:3
single float:1 parenthesized:3
statement statement?:1 statement?:1 statement?:1 statement?:1 statement?:1 statement?:1 statement?:1 call_prototype:5 call_prototype:6 call_prototype:5 call_prototype:4 call_prototype:4 call_prototype:5 call_prototype:4 call_prototype:3 directive:5 directive:4 directive:4 directive:4 directive:3 inner_prototype:4 inner_prototype:5 inner_prototype:4 inner_prototype:3 inner_prototype:5 inner_prototype:6 inner_prototype:5 inner_prototype:4 inner_prototype:5 inner_prototype:6 inner_prototype:5 inner_prototype:4 inner_prototype:6 inner_prototype:7 inner_prototype:6 inner_prototype:5
statements statements:2 statements:0
sum sum?:1 binary:3 binary:3
target directive:3 directive:2
target_label target_label:2 target_label:1
unary unary?:1 cast:4 unary:2 unary:2 unary:2 unary:2
unsized unsized:2
value value?:1 value?:1 binary:3 unary:2 unary:2
variable variable:5 variable:4 variable:3 variable:4 variable:3 variable:2
vector vector:4 vector:3"""

# States, a full stop between two: kinds, and for each the next state, or -1 - the rule to
# reduce; then rules, each with the next state.
STATES = """\
$KPikULVeROQfJghI -240  items:1 module:2.$KPikULVeROQfJghI -264 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 \
18  __parameter_star_5:19 _specifier:20 alignment:21 attributes:22 function:23 function_header:24 item:25 \
metadata_header:26 pragma:27 section:28 section_header:29 target:30 variable:31..n 32.qrxt 33 34 35 \
36  _name:37.n 38.( 39.qrxt 33 34 35 36  _name:40.n 41.kqr(xt 6 33 34 42 35 36  _name:43 attributes:44 \
parameters:45.ikUVfgh 5 6 46 47 14 16 17  __parameter_star_5:19 _specifier:20 alignment:21 attributes:22 \
variable:48.{ 49.o 50.y 51.ikfgh -61.qrxt 33 34 35 36  _name:52.qrx;t 33 34 35 53 36  _name:54 \
declarator:55.ikfgh -62.m 56.ikfgh 5 6 14 57 17  _specifier:58 alignment:21 attributes:22.ikfgh -24.ikfgh \
-59.ikfgh -60.$KPikULVeROQfJghI -227.{; 59 60  body:61 end:62 open:63.$KPikULVeROQfJghI -239.TS} \
-262  metadata_lines:64.$KPikULVeROQfJghI -228.$KPikULVeROQfJghI -229.qrx}tgy \
-333  section_lines:65.$KPikULVeROQfJghI -230.$KPikULVeROQfJghI -231.$KPikULVeROQfJghI \
-232.$KPi@kqW:,wUaYZ=LVbcrd{<eMN([R-x+Ov})]Q;tfJXg|hIy -47.$KPi@kqW:,wUaYZ=LVbcrd{<eMN([R-x+Ov})]Q;tfJXg|hIy \
-48.$KPi@kqW:,wUaYZ=LVbcrd{<eMN([R-x+Ov})]Q;tfJXg|hIy -49.$KPi@kqW:,wUaYZ=LVbcrd{<eMN([R-x+Ov})]Q;tfJXg|hIy \
-50., 66.ikqrxjtfgh -67.y 67  attribute:68.aYZd{(O; 69 70 71 72 -171 42 12 -171  __function_header_star_2:73 \
entry_directive:74 parameters:75 pragma:76.o 77.ik)fgh 5 6 78 14 79 17  __parameter_star_5:80 _specifier:20 \
alignment:21 attributes:22 parameter:81.bcd{(; 82 83 84 -175 42 -175  __function_header_star_3:85 \
func_directive:86 parameters:87.qr(xt 33 34 42 35 36  _name:88 parameters:89.qrxt 33 34 35 36  _name:90.qrxt \
33 34 35 36  _name:91.kqr(xt 6 33 34 42 35 36  _name:92 attributes:93 parameters:94.$KPikULVeROQfJghI \
-238.TS} -257.,; 95 96  __pragma_star_1:97.{ 98.$KPi@kqW,wULVr{eMNRxOv}QtfJXghI -382 -382 -382 -382 -382 \
-382 -382 -382 99 -382 -382 -382 -382 -382 -382 -382 -382 -382 -382 -382 -382 -382 -382 -382 -382 -382 -382 \
-382 -382 -382 -382  __target_star_0:100.$KPi@kqWwULVr{eMNRxOv}QtfJXghI -402.,=<[; -144 101 102 103 \
-144  __declarator_star_10:104 count:105 dimension:106 unsized:107.,; 108 \
109  __variable_star_8:110.$KPikULVeROQfJghI -237.qrx;t 33 34 35 111 36  _name:54 declarator:112.ikfgh \
-23.i@kqWwVr{eMNxOv}tfJXgh -268.$KPikULVeROQfJghI -149.$KPikULVeROQfJghI -166.$KPikULVeROQfJghI \
-167.i@kqWwVr{eMNxOv}tfJXgh -377  statements:113.TS} 114 115 116  close:117 metadata_line:118.qrx}tgy 33 34 \
35 116 36 119 120  _name:121 _section_type:122 close:123 label:124 section_line:125.qrxt 33 34 35 \
36  _name:126.,() -72 127 -72.,) 128 129  __attributes_star_9:130.n 131.aYZd{O; -154.n 132.no 133 \
134  language:135.aYZd{O; 69 70 71 72 -168 12 -168  entry_directive:136 pragma:76.aYZd{O; -14.aYZd{O; 69 70 \
71 72 -170 12 -170  __function_header_star_2:137 entry_directive:74 pragma:76.aYZd{O; \
-150.$KPik,ULVeROQfJghI -236 -236 -236 -236 -236 138 -236 -236 -236 -236 -236 -236 -236 -236 -236 -236 -236 \
-236.qaYZbcrd{xO;t -301.iqrxjt 5 33 34 35 139 36  _name:140 alignment:141 pointer:142.ikfgh 5 6 14 143 \
17  _specifier:58 alignment:21 attributes:22.,) 144 145  __parameters_star_4:146.bcd{; -162.n 147.no 133 \
134  language:148.bcd{; 82 83 84 -172 -172  func_directive:149.bcd{; -16.bcd{; 82 83 84 -174 \
-174  __function_header_star_3:150 func_directive:86.bcd{(; 82 83 84 -179 42 \
-179  __function_header_star_3:151 func_directive:86 parameters:152.qrxt 33 34 35 36  _name:153.bcd{(; 82 83 \
84 -187 42 -187  __function_header_star_3:154 func_directive:86 parameters:155.aYZd{(O; 69 70 71 72 -191 42 \
12 -191  __function_header_star_2:156 entry_directive:74 parameters:157 pragma:76.bcd{(; 82 83 84 -195 42 \
-195  __function_header_star_3:158 func_directive:86 parameters:159.qr(xt 33 34 42 35 36  _name:160 \
parameters:161.qrxt 33 34 35 36  _name:162.o 163.$KPi@kqWwUaYZLVrd{eMNRxOv}Q;tfJXghI -308.,; 164 165.qrx}tgy \
-324.qrxt 33 34 35 36  _name:166.$KPi@kqW,wULVr{eMNRxOv}QtfJXghI -381 -381 -381 -381 -381 -381 -381 -381 167 \
-381 -381 -381 -381 -381 -381 -381 -381 -381 -381 -381 -381 -381 -381 -381 -381 -381 -381 -381 -381 -381 \
-381.!qmrn{(-x+vlt~p 168 33 169 170 171 172 173 174 35 175 176 177 36 178 179  _name:180 bit_and:181 \
bit_or:182 bit_xor:183 conditional:184 constant:185 equality:186 expression:187 generic:188 \
initial_value:189 initializer:190 logical_and:191 logical_or:192 name:193 primary:194 product:195 \
relation:196 shift:197 single:198 sum:199 unary:200.np 201 202.n]p 203 204 205.,=[; -130 206 207 \
-130  dimension:208.,=[; -138 209 103 -138  __declarator_star_10:210 dimension:106 unsized:211.,=[; -10.,=[; \
-142 212 207 -142  __declarator_star_10:213 dimension:106.qrxt 33 34 35 36  _name:54 \
declarator:214.$KPi@kqWwULVr{eMNRxOv}QtfJXghI -401.,; 215 216.$KPi@kqWwULVr{eMNRxOv}QtfJXghI -399.,; 108 \
217  __variable_star_8:218.i@kqWwVr{eMNxOv}tfJXgh 5 219 6 220 221 222 223 34 59 224 225 226 227 12 228 116 \
36 14 15 229 16 17  __parameter_star_5:19 _name:121 _opcode:230 _specifier:20 alignment:21 attributes:22 \
body:231 call:232 close:233 guard:234 instruction:235 label:236 open:63 pragma:237 statement:238 target:239 \
variable:240.n 241.n 242.$KPi@kqWwULVr{eMNRxOv}QtfJXghI -118.$KPikULVeROQfJghI -322.TS} -261.qrn-xty \
-57.qrn-xty -58.: 243.qrn-xty 33 34 244 245 35 36 246  _name:247 debug_name:248 debug_symbol:249 \
label_name:250 section_integer:251.$KPikULVeROQfJghI -323.qrx}tgy -327.qrx}tgy -332.; 252.n 253.y \
67  attribute:254.ikqr(xtfgh -74.,) 255 256.,aYZd{O; 257 -153 -153 -153 -153 -153 -153 -153.aYZd{O; \
-155.,aYZbcd{O; -243.,aYZbcd{O; -244.,aYZd{O; 258 -157 -157 -157 -157 -157 -157 \
-157  __entry_directive_star_6:259.aYZd{O; -13.aYZd{O; 69 70 71 72 -169 12 -169  entry_directive:136 \
pragma:76.n 260.iqrxtf 5 -306 -306 -306 -306 261  alignment:262.,[) -289 103 -289  dimension:263 \
unsized:264.qrxjt 33 34 35 139 36  _name:265 pointer:266.qrxt 33 34 35 36  _name:267.iqrxjt 5 33 34 35 139 \
36  _name:268 alignment:269 pointer:270.ikfgh 5 6 14 79 17  __parameter_star_5:80 _specifier:20 alignment:21 \
attributes:22 parameter:271.qaYZbcrd{xO;t -300.,) 272 273.bcd{; -163.,bcd{; 258 -165 -165 -165 -165 \
-165  __entry_directive_star_6:274.bcd{; -15.bcd{; 82 83 84 -173 -173  func_directive:149.bcd{; 82 83 84 \
-176 -176  func_directive:149.bcd{; 82 83 84 -178 -178  __function_header_star_3:275 \
func_directive:86.bcd{(; 82 83 84 -183 42 -183  __function_header_star_3:276 func_directive:86 \
parameters:277.bcd{; 82 83 84 -184 -184  func_directive:149.bcd{; 82 83 84 -186 \
-186  __function_header_star_3:278 func_directive:86.aYZd{O; 69 70 71 72 -188 12 -188  entry_directive:136 \
pragma:76.aYZd{O; 69 70 71 72 -190 12 -190  __function_header_star_2:279 entry_directive:74 pragma:76.bcd{; \
82 83 84 -192 -192  func_directive:149.bcd{; 82 83 84 -194 -194  __function_header_star_3:280 \
func_directive:86.bcd{(; 82 83 84 -199 42 -199  __function_header_star_3:281 func_directive:86 \
parameters:282.qrxt 33 34 35 36  _name:283.bcd{(; 82 83 84 -207 42 -207  __function_header_star_3:284 \
func_directive:86 parameters:285.,; -28.o 286.$KPi@kqWwUaYZLVrd{eMNRxOv}Q;tfJXghI \
-307.$KPi@kqW,wULVr{eMNRxOv}QtfJXghI -34.qrxt 33 34 35 36  _name:287.!mn(-+~p 168 169 288 289 174 175 178 \
179  primary:194 unary:290.&^:,<->%+?})];/*|HBEADFCG -309.,=(+});y -48 -48 291 -48 -48 -48 -48 \
-48.&^,<(->%+?};/*|HBEADFCG -310 -310 -310 -310 292 -310 -310 -310 -310 -310 -310 -310 -310 -310 -310 -310 \
-310 -310 -310 -310 -310 -310 -310.!qmrn{(-x+v}lt~p 168 33 169 170 171 172 173 174 35 175 176 293 177 36 178 \
179  _name:180 bit_and:181 bit_or:182 bit_xor:183 conditional:184 constant:185 element:294 equality:186 \
expression:187 generic:188 initial_value:189 initializer:295 logical_and:191 logical_or:192 name:296 \
primary:194 product:195 relation:196 shift:197 single:198 sum:199 unary:200.!mn(-+l~gp 168 169 288 173 174 \
175 177 178 297 179  bit_and:181 bit_or:182 bit_xor:183 conditional:184 equality:186 expression:298 \
logical_and:191 logical_or:192 primary:194 product:195 relation:196 shift:197 single:299 sum:199 \
unary:200.!mn(-+~p 168 169 288 289 174 175 178 179  primary:194 unary:300.!mn(-+~p 168 169 288 289 174 175 \
178 179  primary:194 unary:301.,=[+})];| -267.,}); -338.!mn(-+~p 168 169 288 289 174 175 178 \
179  primary:194 unary:302.&^:,<->%+?})];/*|HBEADFCG -311.,=[+})];|y -266 -266 -266 -266 -266 -266 -266 -266 \
-266 303.&^:,?})];|HB 304 -83 -83 -83 -83 -83 -83 -83 -83 -83 -83 -83.:,?})];|HB -245 -245 -245 -245 -245 \
-245 -245 305 -245 -245.^:,?})];|HB 306 -81 -81 -81 -81 -81 -81 -81 -81 -81 -81.:,})]; -161.,}; \
-211.&^:,?})];|HBEA -79 -79 -79 -79 -79 -79 -79 -79 -79 -79 -79 -79 307 308.,}); -121.,+}; -212 309 -212 \
-212.,}; -217.,; -143.:,?})];HB -247 -247 -247 -247 -247 -247 -247 -247 310.:,?})];H -119 -119 311 -119 -119 \
-119 -119 312.,+}; -213 313 -213 -213.&^:,<->%+?})];/*|HBEADFCG -385.&^:,<->%+?})];/*|HBEADFCG -378 -378 \
-378 -378 -378 -378 -378 314 -378 -378 -378 -378 -378 -378 315 316 -378 -378 -378 -378 -378 -378 -378 -378 \
-378.&^:,<>?})];|HBEADF -158 -158 -158 -158 317 318 -158 -158 -158 -158 -158 -158 -158 -158 -158 -158 319 \
320.&^:,<>?})];|HBEADFCG -317 -317 -317 -317 -317 -317 -317 -317 -317 -317 -317 -317 -317 -317 -317 -317 \
-317 -317 321 322.,}); -122.&^:,<->+?})];|HBEADFCG -335 -335 -335 -335 -335 323 -335 324 -335 -335 -335 -335 \
-335 -335 -335 -335 -335 -335 -335 -335 -335 -335.&^:,<->%+?})];/*|HBEADFCG -313.> 325.> 326.] 327.,=[); \
-391.] 328.!qmrn{(-x+vlt~p 168 33 169 170 171 172 173 174 35 175 176 177 36 178 179  _name:180 bit_and:181 \
bit_or:182 bit_xor:183 conditional:184 constant:185 equality:186 expression:187 generic:188 \
initial_value:189 initializer:329 logical_and:191 logical_or:192 name:193 primary:194 product:195 \
relation:196 shift:197 single:198 sum:199 unary:200.np 203 205.,=[; -9.!qmrn{(-x+vlt~p 168 33 169 170 171 \
172 173 174 35 175 176 177 36 178 179  _name:180 bit_and:181 bit_or:182 bit_xor:183 conditional:184 \
constant:185 equality:186 expression:187 generic:188 initial_value:189 initializer:330 logical_and:191 \
logical_or:192 name:193 primary:194 product:195 relation:196 shift:197 single:198 sum:199 unary:200.,=[; \
-132 331 207 -132  dimension:208.,=[; -136 332 207 -136  __declarator_star_10:333 \
dimension:106.!qmrn{(-x+vlt~p 168 33 169 170 171 172 173 174 35 175 176 177 36 178 179  _name:180 \
bit_and:181 bit_or:182 bit_xor:183 conditional:184 constant:185 equality:186 expression:187 generic:188 \
initial_value:189 initializer:334 logical_and:191 logical_or:192 name:193 primary:194 product:195 \
relation:196 shift:197 single:198 sum:199 unary:200.,=[; -140 335 207 -140  dimension:208.,; -36.qrxt 33 34 \
35 36  _name:54 declarator:336.$KPi@kqWwULVr{eMNRxOv}QtfJXghI -400.$KPi@kqWwULVr{eMNRxOv}QtfJXghI -398.,; \
215 337.!qrxt 338 33 34 35 36  _name:339.q:re(xvtfghy 33 -47 34 340 341 35 176 36 342 343 344 \
345  ___opcode_star_15:346 _modifier:347 _name:180 arguments:348 name:349.(t 42 \
350  parameters:351.!qmrn{e([-x+v;ltf~ghpy -52 -52 -52 -52 -52 -52 340 -52 -52 -52 -52 -52 -52 -52 -52 -52 \
342 -52 343 344 -52 345  ___opcode_star_15:352 _modifier:347.qr(xt 33 34 42 35 36  _name:353 \
parameters:354.V 355.n 356.n 357.!q:mrn{e([-x+v;ltf~ghpy -54 -54 -49 -54 -54 -54 -54 340 -54 -54 -54 -54 -54 \
-54 -54 -54 -54 342 -54 343 344 -54 345  ___opcode_star_15:358 _modifier:347.!qmrn{e([-x+v;ltf~ghpy -56 -56 \
-56 -56 -56 -56 340 -56 -56 -56 -56 -56 -56 -56 -56 -56 342 -56 343 344 -56 345  ___opcode_star_15:359 \
_modifier:347.qrxt 33 34 35 36  _name:360 target_label:361.!qmrn{([-x+v;lt~p 362 33 169 34 288 363 173 364 \
365 35 175 176 366 177 36 178 179  _name:180 address:367 bit_and:181 bit_or:182 bit_xor:183 conditional:184 \
constant:368 equality:186 expression:187 logical_and:191 logical_or:192 name:369 operand:370 primary:194 \
product:195 relation:196 shift:197 single:198 sum:199 unary:200 value:371 vector:372.i@kqWwVr{eMNxOv}tfJXgh \
-340.i@kqWwVr{eMNxOv}tfJXgh -341.$KPi@kqWwULVr{eMNRxOv}QtfJXghI -85.qwxv 373 222 374 \
228  _opcode:375.i@kqWwVr{eMNxOv}tfJXgh -342.i@kqWwVr{eMNxOv}tfJXgh -343.i@kqWwVr{eMNxOv}tfJXgh \
-344.i@kqWwVr{eMNxOv}tfJXgh -376.i@kqWwVr{eMNxOv}tfJXgh -345.i@kqWwVr{eMNxOv}tfJXgh -346.{ \
376  metadata_fields:377.TS} -260.i@kqWwVr{eMNxOv}tfJXghy -241.q,rx}tgy -325.n \
378  section_literal:379.q,rx+}tgy -126.qr-x+}tgy -125 -125 -242 -125 -125 -125 -125 -125 -125.q,rx+}tgy \
-127 -127 -127 -127 380 -127 -127 -127 -127.qrx}tgy -329.- 381.q,rx}tgy -331 382 -331 -331 -331 -331 -331 \
-331  __section_line_star_12:383.$KPikULVeROQfJghI -233., 384.,) -8.y 67  attribute:385.ikqr(xtfgh -73.n \
386.no 133 134  language:387.,aYZd{O; 388 -156 -156 -156 -156 -156 -156 -156.$KPik,ULVeROQfJghI -235 -235 \
-235 -235 -235 389 -235 -235 -235 -235 -235 -235 -235 -235 -235 -235 -235 -235.iqrxt 5 -305 -305 -305 \
-305  alignment:390.qrxt -303.,) -287.,) -288.,[) -292 103 -292  dimension:391 unsized:392.qrxt 33 34 35 \
36  _name:393.,[) -298 103 -298  dimension:394 unsized:395.,[) -277 103 -277  dimension:396 \
unsized:397.qrxjt 33 34 35 139 36  _name:398 pointer:399.qrxt 33 34 35 36  _name:400.,) -26.ikfgh 5 6 14 79 \
17  __parameter_star_5:80 _specifier:20 alignment:21 attributes:22 parameter:401.qaYZbcrd{xO;t -299.,bcd{; \
388 -164 -164 -164 -164 -164.bcd{; 82 83 84 -177 -177  func_directive:149.bcd{; 82 83 84 -180 \
-180  func_directive:149.bcd{; 82 83 84 -182 -182  __function_header_star_3:402 func_directive:86.bcd{; 82 \
83 84 -185 -185  func_directive:149.aYZd{O; 69 70 71 72 -189 12 -189  entry_directive:136 pragma:76.bcd{; 82 \
83 84 -193 -193  func_directive:149.bcd{; 82 83 84 -196 -196  func_directive:149.bcd{; 82 83 84 -198 \
-198  __function_header_star_3:403 func_directive:86.bcd{(; 82 83 84 -203 42 \
-203  __function_header_star_3:404 func_directive:86 parameters:405.bcd{; 82 83 84 -204 \
-204  func_directive:149.bcd{; 82 83 84 -206 -206  __function_header_star_3:406 func_directive:86.,; \
-27.$KPi@kqW,wULVr{eMNRxOv}QtfJXghI -33.&^:,<->%+?})];/*|HBEADFCG -310.!mn(-+~gp 168 169 288 289 174 175 178 \
297 179  bit_and:181 bit_or:182 bit_xor:183 conditional:184 equality:186 expression:298 logical_and:191 \
logical_or:192 primary:194 product:195 relation:196 shift:197 sum:199 unary:200.&^:,<->%+?})];/*|HBEADFCG \
-387.qrxvt 33 34 35 176 36  _name:180 name:407.!qmrn(-x+vt~p 168 33 169 170 288 289 174 35 175 176 36 178 \
179  _name:180 bit_and:181 bit_or:182 bit_xor:183 conditional:184 equality:186 expression:408 generic:409 \
logical_and:191 logical_or:192 masked:410 name:411 primary:194 product:195 relation:196 shift:197 sum:199 \
unary:200.,}; -220.,} 412 413  __initializer_star_11:414.,} -147.,=+} -213 415 313 -213.) 416.) 417.) \
418.&^:,<->%+?})];/*|HBEADFCG -388.&^:,<->%+?})];/*|HBEADFCG -389.&^:,<->%+?})];/*|HBEADFCG -390.,=[+})];| \
-265.!mn(-+~p 168 169 288 289 174 175 178 179  equality:419 primary:194 product:195 relation:196 shift:197 \
sum:199 unary:200.!mn(-+~p 168 169 288 289 174 175 178 179  bit_and:181 bit_xor:420 equality:186 primary:194 \
product:195 relation:196 shift:197 sum:199 unary:200.!mn(-+~p 168 169 288 289 174 175 178 179  bit_and:421 \
equality:186 primary:194 product:195 relation:196 shift:197 sum:199 unary:200.!mn(-+~p 168 169 288 289 174 \
175 178 179  primary:194 product:195 relation:422 shift:197 sum:199 unary:200.!mn(-+~p 168 169 288 289 174 \
175 178 179  primary:194 product:195 relation:423 shift:197 sum:199 unary:200.!mn(-+~p 168 169 288 289 174 \
175 178 179  bit_and:181 bit_or:182 bit_xor:183 conditional:184 equality:186 expression:424 logical_and:191 \
logical_or:192 primary:194 product:195 relation:196 shift:197 sum:199 unary:200.!mn(-+~p 168 169 288 289 174 \
175 178 179  bit_and:181 bit_or:425 bit_xor:183 equality:186 primary:194 product:195 relation:196 shift:197 \
sum:199 unary:200.!mn(-+~p 168 169 288 289 174 175 178 179  bit_and:181 bit_or:182 bit_xor:183 \
conditional:184 equality:186 expression:426 logical_and:191 logical_or:192 primary:194 product:195 \
relation:196 shift:197 sum:199 unary:200.!mn(-+~p 168 169 288 289 174 175 178 179  bit_and:181 bit_or:182 \
bit_xor:183 equality:186 logical_and:427 primary:194 product:195 relation:196 shift:197 sum:199 \
unary:200.!mn(-+~p 168 169 288 289 174 175 178 179  bit_and:181 bit_or:182 bit_xor:183 conditional:184 \
equality:186 expression:428 logical_and:191 logical_or:192 primary:194 product:195 relation:196 shift:197 \
sum:199 unary:200.!mn(-+~p 168 169 288 289 174 175 178 179  primary:194 unary:429.!mn(-+~p 168 169 288 289 \
174 175 178 179  primary:194 unary:430.!mn(-+~p 168 169 288 289 174 175 178 179  primary:194 \
unary:431.!mn(-+~p 168 169 288 289 174 175 178 179  primary:194 product:195 shift:432 sum:199 \
unary:200.!mn(-+~p 168 169 288 289 174 175 178 179  primary:194 product:195 shift:433 sum:199 \
unary:200.!mn(-+~p 168 169 288 289 174 175 178 179  primary:194 product:195 shift:434 sum:199 \
unary:200.!mn(-+~p 168 169 288 289 174 175 178 179  primary:194 product:195 shift:435 sum:199 \
unary:200.!mn(-+~p 168 169 288 289 174 175 178 179  primary:194 product:195 sum:436 unary:200.!mn(-+~p 168 \
169 288 289 174 175 178 179  primary:194 product:195 sum:437 unary:200.!mn(-+~p 168 169 288 289 174 175 178 \
179  primary:194 product:438 unary:200.!mn(-+~p 168 169 288 289 174 175 178 179  primary:194 product:439 \
unary:200.,=[; -123.,=[; -124.,=[); -145.,=[); -146.,; -129.,; -137.!qmrn{(-x+vlt~p 168 33 169 170 171 172 \
173 174 35 175 176 177 36 178 179  _name:180 bit_and:181 bit_or:182 bit_xor:183 conditional:184 constant:185 \
equality:186 expression:187 generic:188 initial_value:189 initializer:440 logical_and:191 logical_or:192 \
name:193 primary:194 product:195 relation:196 shift:197 single:198 sum:199 unary:200.!qmrn{(-x+vlt~p 168 33 \
169 170 171 172 173 174 35 175 176 177 36 178 179  _name:180 bit_and:181 bit_or:182 bit_xor:183 \
conditional:184 constant:185 equality:186 expression:187 generic:188 initial_value:189 initializer:441 \
logical_and:191 logical_or:192 name:193 primary:194 product:195 relation:196 shift:197 single:198 sum:199 \
unary:200.,=[; -134 442 207 -134  dimension:208.,; -141.!qmrn{(-x+vlt~p 168 33 169 170 171 172 173 174 35 \
175 176 177 36 178 179  _name:180 bit_and:181 bit_or:182 bit_xor:183 conditional:184 constant:185 \
equality:186 expression:187 generic:188 initial_value:189 initializer:443 logical_and:191 logical_or:192 \
name:193 primary:194 product:195 relation:196 shift:197 single:198 sum:199 unary:200.,; \
-35.$KPi@kqWwULVr{eMNRxOv}QtfJXghI -397.qrxt 33 34 35 36  _name:444.qwxv -209.!qmrn{e([-x+v;ltf~ghpy \
-42.!qmrn{([-x+v)lt~p 362 33 169 34 288 363 173 364 365 35 175 176 445 177 36 178 179  _name:180 address:367 \
bit_and:181 bit_or:182 bit_xor:183 conditional:184 constant:368 equality:186 expression:187 logical_and:191 \
logical_or:192 name:369 operand:446 primary:194 product:195 relation:196 shift:197 single:198 sum:199 \
unary:200 value:371 vector:372.!qmrn{e([-x+v;ltf~ghpy -43.!qmrn{e([-x+v;ltf~ghpy -44.!qmrn{e([-x+v;ltf~ghpy \
-45.!qmrn{e([-x+v;ltf~ghpy -46.qre(xvtfghy 33 34 340 341 35 176 36 342 343 344 345  _modifier:447 _name:180 \
arguments:448 name:449.!qmrn{e([-x+v;ltf~ghpy -2., 450.,; 451 452.bcd(; 82 83 84 42 \
453  __function_header_star_3:454 func_directive:86 parameters:455.t 456.!qmrn{e([-x+v;ltf~ghpy -51 -51 -51 \
-51 -51 -51 340 -51 -51 -51 -51 -51 -51 -51 -51 -51 342 -51 343 344 -51 345  _modifier:447.bcd(; 82 83 84 42 \
457  __function_header_star_3:458 func_directive:86 parameters:459.qrxt 33 34 35 36  _name:460.qr(xt 33 34 \
42 35 36  _name:461 parameters:462.n 463.n 464.!qmrn{e([-x+v;ltf~ghpy -53 -53 -53 -53 -53 -53 340 -53 -53 \
-53 -53 -53 -53 -53 -53 -53 342 -53 343 344 -53 345  _modifier:447.!qmrn{e([-x+v;ltf~ghpy -55 -55 -55 -55 \
-55 -55 340 -55 -55 -55 -55 -55 -55 -55 -55 -55 342 -55 343 344 -55 345  _modifier:447.,<; -384 102 \
-384  count:465.,; 466 467  __statement_star_7:468.!qmrn(-x+vt~p 168 33 169 34 288 289 174 35 175 176 36 178 \
179  _name:180 name:469 primary:194 unary:290.!qmrn(-x+vlt~p 362 33 169 34 288 173 365 35 175 176 177 36 178 \
179  _name:180 bit_and:181 bit_or:182 bit_xor:183 conditional:184 constant:368 equality:186 expression:187 \
logical_and:191 logical_or:192 name:470 primary:194 product:195 relation:196 shift:197 single:198 sum:199 \
unary:200 value:471.!qmrn(-x+t~p 168 33 169 34 288 289 174 35 175 36 178 179  _name:472 base:473 bit_and:181 \
bit_or:182 bit_xor:183 conditional:184 equality:186 expression:474 logical_and:191 logical_or:192 \
plain_name:475 primary:194 product:195 relation:196 shift:197 sum:199 unary:200.!qmrn(-x+vt~p 168 33 169 34 \
288 289 174 35 175 176 36 178 179  _name:180 name:476 primary:194 unary:300.i@kqWwVr{eMNxOv}tfJXgh -223.,); \
-269.,}); -392.,[+);| -393 477 478 -393 -393 479.,; 480 481  __instruction_star_14:482.,); -270.,);| -271 \
-271 -271 483.qre(xvtfghy 33 34 340 341 35 176 36 342 343 344 345  ___opcode_star_15:484 _modifier:347 \
_name:180 arguments:485 name:486.!qmrn{e([-x+v;ltf~ghpy -54 -54 -54 -54 -54 -54 340 -54 -54 -54 -54 -54 -54 \
-54 -54 -54 342 -54 343 344 -54 345  ___opcode_star_15:358 _modifier:347.!qmrn{([-x+v;lt~p 362 33 169 34 288 \
363 173 364 365 35 175 176 487 177 36 178 179  _name:180 address:367 bit_and:181 bit_or:182 bit_xor:183 \
conditional:184 constant:368 equality:186 expression:187 logical_and:191 logical_or:192 name:369 operand:488 \
primary:194 product:195 relation:196 shift:197 single:198 sum:199 unary:200 value:371 vector:372.o \
489  metadata_string:490.TS} -259.q,rx}tgy -334.q,rx}tgy -326.n- 244 245  section_integer:491.qrxt 33 34 35 \
36  _name:492 label_name:493.n- 244 245  section_integer:494.q,rx}tgy -330 495 -330 -330 -330 -330 -330 \
-330.n 496.,) -7.,aYZd{O; 497 -152 -152 -152 -152 -152 -152 -152.,aYZbcd{O; -12.no 133 134  language:498.n \
499.qrxt -304.,) -290.,) -291.,[) -295 103 -295  dimension:500 unsized:501.,) -296.,) -297.,) -275.,) \
-276.,[) -280 103 -280  dimension:502 unsized:503.qrxt 33 34 35 36  _name:504.,[) -286 103 \
-286  dimension:505 unsized:506.,) -25.bcd{; 82 83 84 -181 -181  func_directive:149.bcd{; 82 83 84 -197 \
-197  func_directive:149.bcd{; 82 83 84 -200 -200  func_directive:149.bcd{; 82 83 84 -202 \
-202  __function_header_star_3:507 func_directive:86.bcd{; 82 83 84 -205 -205  func_directive:149.) 508.) \
-249.+) 509 -250.) 510.+) 511 -251.!qmrn{(-x+vlt~p 168 33 169 170 171 172 173 174 35 175 176 177 36 178 \
179  _name:180 bit_and:181 bit_or:182 bit_xor:183 conditional:184 constant:185 element:512 equality:186 \
expression:187 generic:188 initial_value:189 initializer:295 logical_and:191 logical_or:192 name:296 \
primary:194 product:195 relation:196 shift:197 single:198 sum:199 unary:200.,}; -219.,} 513 \
514.!qmrn(-x+vlt~p 168 33 169 170 171 173 174 35 175 176 177 36 178 179  _name:180 bit_and:181 bit_or:182 \
bit_xor:183 conditional:184 constant:185 equality:186 expression:187 generic:188 initial_value:515 \
logical_and:191 logical_or:192 name:193 primary:194 product:195 relation:196 shift:197 single:198 sum:199 \
unary:200.!mn(-+~p 168 169 288 289 174 175 178 179  primary:194 unary:516.&^:,<->%+?})];/*|HBEADFCG \
-312.,}); -339.&^:,?})];|HBEA -80 -80 -80 -80 -80 -80 -80 -80 -80 -80 -80 -80 307 308.^:,?})];|HB 306 -82 \
-82 -82 -82 -82 -82 -82 -82 -82 -82.&^:,?})];|HB 304 -84 -84 -84 -84 -84 -84 -84 -84 -84 -84 \
-84.&^:,<>?})];|HBEADF -159 -159 -159 -159 317 318 -159 -159 -159 -159 -159 -159 -159 -159 -159 -159 319 \
320.&^:,<>?})];|HBEADF -160 -160 -160 -160 317 318 -160 -160 -160 -160 -160 -160 -160 -160 -160 -160 319 \
320.,}; -214.:,?})];|HB -246 -246 -246 -246 -246 -246 -246 305 -246 -246.: 517.:,?})];HB -248 -248 -248 -248 \
-248 -248 -248 -248 310.,}; -215.&^:,<->%+?})];/*|HBEADFCG -314.&^:,<->%+?})];/*|HBEADFCG \
-315.&^:,<->%+?})];/*|HBEADFCG -316.&^:,<>?})];|HBEADFCG -318 -318 -318 -318 -318 -318 -318 -318 -318 -318 \
-318 -318 -318 -318 -318 -318 -318 -318 321 322.&^:,<>?})];|HBEADFCG -319 -319 -319 -319 -319 -319 -319 -319 \
-319 -319 -319 -319 -319 -319 -319 -319 -319 -319 321 322.&^:,<>?})];|HBEADFCG -320 -320 -320 -320 -320 -320 \
-320 -320 -320 -320 -320 -320 -320 -320 -320 -320 -320 -320 321 322.&^:,<>?})];|HBEADFCG -321 -321 -321 -321 \
-321 -321 -321 -321 -321 -321 -321 -321 -321 -321 -321 -321 -321 -321 321 322.&^:,<->+?})];|HBEADFCG -336 \
-336 -336 -336 -336 323 -336 324 -336 -336 -336 -336 -336 -336 -336 -336 -336 -336 -336 -336 -336 \
-336.&^:,<->+?})];|HBEADFCG -337 -337 -337 -337 -337 323 -337 324 -337 -337 -337 -337 -337 -337 -337 -337 \
-337 -337 -337 -337 -337 -337.&^:,<->%+?})];/*|HBEADFCG -379 -379 -379 -379 -379 -379 -379 314 -379 -379 \
-379 -379 -379 -379 315 316 -379 -379 -379 -379 -379 -379 -379 -379 -379.&^:,<->%+?})];/*|HBEADFCG -380 -380 \
-380 -380 -380 -380 -380 314 -380 -380 -380 -380 -380 -380 315 316 -380 -380 -380 -380 -380 -380 -380 -380 \
-380.,; -131.,; -135.!qmrn{(-x+vlt~p 168 33 169 170 171 172 173 174 35 175 176 177 36 178 179  _name:180 \
bit_and:181 bit_or:182 bit_xor:183 conditional:184 constant:185 equality:186 expression:187 generic:188 \
initial_value:189 initializer:518 logical_and:191 logical_or:192 name:193 primary:194 product:195 \
relation:196 shift:197 single:198 sum:199 unary:200.,; -139.qwxv -210.,; -70.,) 480 \
519  __instruction_star_14:520.!qmrn{e([-x+v;ltf~ghpy -1., 521.,; 522 523.qrxvt 33 34 35 176 36  _name:180 \
name:524.qr(xvt 33 34 341 35 176 36  _name:180 arguments:525 name:526.i@kqWwVr{eMNxOv}tfJXgh \
-117.i@kqWwVr{eMNxOv}tfJXgh -354.bcd; 82 83 84 527  func_directive:149.bcd; 82 83 84 \
528  __function_header_star_3:529 func_directive:86.bcd(; 82 83 84 42 530  __function_header_star_3:531 \
func_directive:86 parameters:532.i@kqWwVr{eMNxOv}tfJXgh -363.bcd; 82 83 84 533  func_directive:149.bcd; 82 \
83 84 534  __function_header_star_3:535 func_directive:86.bcd(; 82 83 84 42 \
536  __function_header_star_3:537 func_directive:86 parameters:538.bcd(; 82 83 84 42 \
539  __function_header_star_3:540 func_directive:86 parameters:541.qrxt 33 34 35 36  _name:542.n 543.n \
544.,; -383.qrxt 33 34 35 36  _name:360 target_label:545.i@kqWwVr{eMNxOv}tfJXgh -359.,; 546 547.,}); \
-395.,+} -393 478 -393.,} 548 549  __vector_star_16:550.,-+] -302.,] 551 552  __address_star_17:553.,] \
-75.,-+] -76 554 555 -76.,}); -396.!qmrn(-x+vt~p 168 33 169 34 288 289 174 35 175 176 36 178 179  _index:556 \
_name:180 bit_and:181 bit_or:182 bit_xor:183 conditional:184 equality:186 expression:557 logical_and:191 \
logical_or:192 name:558 primary:194 product:195 relation:196 shift:197 sum:199 unary:200.!mn(-+~p 168 169 \
288 289 174 175 178 179  bit_and:181 bit_or:182 bit_xor:183 conditional:184 equality:186 expression:559 \
logical_and:191 logical_or:192 primary:194 product:195 relation:196 shift:197 sum:199 unary:200.qrxvt 33 34 \
35 176 36  _name:180 name:560.!qmrn{([-x+vlt~p 362 33 169 34 288 363 173 364 365 35 175 176 177 36 178 \
179  _name:180 address:367 bit_and:181 bit_or:182 bit_xor:183 conditional:184 constant:368 equality:186 \
expression:187 logical_and:191 logical_or:192 name:369 operand:561 primary:194 product:195 relation:196 \
shift:197 single:198 sum:199 unary:200 value:371 vector:372.i@kqWwVr{eMNxOv}tfJXgh -222.,; 562 563.qrxvt 33 \
34 35 176 36  _name:180 name:564.qre(xvtfghy 33 34 340 341 35 176 36 342 343 344 345  _modifier:447 \
_name:180 arguments:565 name:566., 567.,; 568 569.i@kqWwVr{eMNxOv}tfJXgh -226.,; 480 \
570  __instruction_star_14:571.,} -263., 572  __metadata_fields_plus_13:573.q,rx}tgy -128.qrx}tgy \
-242.qrx}tgy -328.q,rx}tgy -30.n- 244 245  section_integer:574.) 575.n 576.,aYZbcd{O; -11.$KPikULVeROQfJghI \
-234.,) -293.,) -294.,) -278.,) -279.,[) -283 103 -283  dimension:577 unsized:578.,) -284.,) -285.bcd{; 82 \
83 84 -201 -201  func_directive:149.,+}); -208.!mn(-+~p 168 169 288 289 174 175 178 179  bit_and:181 \
bit_or:182 bit_xor:183 conditional:184 equality:186 expression:579 logical_and:191 logical_or:192 \
primary:194 product:195 relation:196 shift:197 sum:199 unary:200.,}; -216.!mn(-+~p 168 169 288 289 174 175 \
178 179  bit_and:181 bit_or:182 bit_xor:183 conditional:184 equality:186 expression:580 logical_and:191 \
logical_or:192 primary:194 product:195 relation:196 shift:197 sum:199 unary:200.,} -18.!qmrn{(-x+vlt~p 168 \
33 169 170 171 172 173 174 35 175 176 177 36 178 179  _name:180 bit_and:181 bit_or:182 bit_xor:183 \
conditional:184 constant:185 element:581 equality:186 expression:187 generic:188 initial_value:189 \
initializer:295 logical_and:191 logical_or:192 name:296 primary:194 product:195 relation:196 shift:197 \
single:198 sum:199 unary:200.,}; -218.,} -148.&^:,<->%+?})];/*|HBEADFCG -386.!mn(-+~p 168 169 288 289 174 \
175 178 179  bit_and:181 bit_or:182 bit_xor:183 conditional:582 equality:186 logical_and:191 logical_or:192 \
primary:194 product:195 relation:196 shift:197 sum:199 unary:200.,; -133.,; -69.,) 562 583.qrxvt 33 34 35 \
176 36  _name:180 name:584.qr(xvt 33 34 341 35 176 36  _name:180 arguments:585 \
name:586.i@kqWwVr{eMNxOv}tfJXgh -109.,; 587 588.,; 589 590.; 591.i@kqWwVr{eMNxOv}tfJXgh \
-351.i@kqWwVr{eMNxOv}tfJXgh -353.bcd; 82 83 84 592  func_directive:149.i@kqWwVr{eMNxOv}tfJXgh -350.bcd; 82 \
83 84 593  func_directive:149.bcd; 82 83 84 594  __function_header_star_3:595 \
func_directive:86.i@kqWwVr{eMNxOv}tfJXgh -360.i@kqWwVr{eMNxOv}tfJXgh -362.bcd; 82 83 84 \
596  func_directive:149.i@kqWwVr{eMNxOv}tfJXgh -367.bcd; 82 83 84 597  func_directive:149.bcd; 82 83 84 \
598  __function_header_star_3:599 func_directive:86.i@kqWwVr{eMNxOv}tfJXgh -371.bcd; 82 83 84 \
600  func_directive:149.bcd; 82 83 84 601  __function_header_star_3:602 func_directive:86.bcd(; 82 83 84 42 \
603  __function_header_star_3:604 func_directive:86 parameters:605.i@kqW,wVr{eMNxOv}tfJXgh -356 -356 -356 \
-356 -356 606 -356 -356 -356 -356 -356 -356 -356 -356 -356 -356 -356 -356 -356 -356 -356 -356 \
-356  _inlined:607.i@kqWwVr{eMNxOv}tfJXgh -357.,; -32.qrxt 33 34 35 36  _name:360 \
target_label:608.i@kqWwVr{eMNxOv}tfJXgh -358.!qmrn(-x+vlt~p 362 33 169 34 288 173 365 35 175 176 177 36 178 \
179  _name:180 bit_and:181 bit_or:182 bit_xor:183 conditional:184 constant:368 equality:186 expression:187 \
logical_and:191 logical_or:192 name:470 primary:194 product:195 relation:196 shift:197 single:198 sum:199 \
unary:200 value:609.,)];| -404.,} 610 611.qr{xvt 33 34 363 35 176 36  _name:180 name:612 vector:613.,);y -66 \
-66 -66 614.,] 615 616.!mn(-+~p 168 169 288 289 174 175 178 179  bit_and:181 bit_or:182 bit_xor:183 \
conditional:184 equality:186 expression:617 logical_and:191 logical_or:192 primary:194 product:195 \
relation:196 shift:197 sum:199 unary:200.!mn(-+~p 168 169 288 289 174 175 178 179  bit_and:181 bit_or:182 \
bit_xor:183 conditional:184 equality:186 expression:618 logical_and:191 logical_or:192 primary:194 \
product:195 relation:196 shift:197 sum:199 unary:200.] 619.] -39.] -40.,}); -394.,); -273.,); \
-20.!qmrn{([-x+vlt~p 362 33 169 34 288 363 173 364 365 35 175 176 177 36 178 179  _name:180 address:367 \
bit_and:181 bit_or:182 bit_xor:183 conditional:184 constant:368 equality:186 expression:187 logical_and:191 \
logical_or:192 name:369 operand:620 primary:194 product:195 relation:196 shift:197 single:198 sum:199 \
unary:200 value:371 vector:372.i@kqWwVr{eMNxOv}tfJXgh -221.,); -274., 621.,; 622 623.qrxvt 33 34 35 176 \
36  _name:180 name:624.qr(xvt 33 34 341 35 176 36  _name:180 arguments:625 name:626.i@kqWwVr{eMNxOv}tfJXgh \
-101.i@kqWwVr{eMNxOv}tfJXgh -225.,; 562 627.og 489 628  metadata_field:629 metadata_string:630.,} 631 \
632.q,rx}tgy -29.,) -71.aYZd{O; -151.,) -281.,) -282.) -252.) -253.,} -17.:,})]; -120.,; -68.,; 633 634.,; \
635 636.; 637.qr(xvt 33 34 341 35 176 36  _name:180 arguments:638 name:639.i@kqWwVr{eMNxOv}tfJXgh -113.qrxvt \
33 34 35 176 36  _name:180 name:640.i@kqWwVr{eMNxOv}tfJXgh -115.i@kqWwVr{eMNxOv}tfJXgh \
-116.i@kqWwVr{eMNxOv}tfJXgh -352.i@kqWwVr{eMNxOv}tfJXgh -347.i@kqWwVr{eMNxOv}tfJXgh -349.bcd; 82 83 84 \
641  func_directive:149.i@kqWwVr{eMNxOv}tfJXgh -361.i@kqWwVr{eMNxOv}tfJXgh -364.i@kqWwVr{eMNxOv}tfJXgh \
-366.bcd; 82 83 84 642  func_directive:149.i@kqWwVr{eMNxOv}tfJXgh -368.i@kqWwVr{eMNxOv}tfJXgh -370.bcd; 82 \
83 84 643  func_directive:149.i@kqWwVr{eMNxOv}tfJXgh -375.bcd; 82 83 84 644  func_directive:149.bcd; 82 83 \
84 645  __function_header_star_3:646 func_directive:86.s 647.i@kqWwVr{eMNxOv}tfJXgh -355.,; -31.,} \
-38.!qmrn(-x+vlt~p 362 33 169 34 288 173 365 35 175 176 177 36 178 179  _name:180 bit_and:181 bit_or:182 \
bit_xor:183 conditional:184 constant:368 equality:186 expression:187 logical_and:191 logical_or:192 name:470 \
primary:194 product:195 relation:196 shift:197 single:198 sum:199 unary:200 value:648.,)];| -403.,] -5.,] \
-6.,); -65.qr{xvt 33 34 363 35 176 36  _name:180 name:649 vector:650.,);y -64 -64 -64 651.,] -77.,] -78.,); \
-272.,); -19.qrxvt 33 34 35 176 36  _name:180 name:652.qr(xvt 33 34 341 35 176 36  _name:180 arguments:653 \
name:654.i@kqWwVr{eMNxOv}tfJXgh -93.,; 655 656.,; 657 658.; 659.i@kqWwVr{eMNxOv}tfJXgh -224.n \
660  metadata_integer:661.,} -22.,} -254.og 489 628  metadata_field:662 metadata_string:630.TS} -256.qr(xvt \
33 34 341 35 176 36  _name:180 arguments:663 name:664.i@kqWwVr{eMNxOv}tfJXgh -105.qrxvt 33 34 35 176 \
36  _name:180 name:665.i@kqWwVr{eMNxOv}tfJXgh -107.i@kqWwVr{eMNxOv}tfJXgh -108.,; 666 667.; 668.; \
669.i@kqWwVr{eMNxOv}tfJXgh -348.i@kqWwVr{eMNxOv}tfJXgh -365.i@kqWwVr{eMNxOv}tfJXgh \
-369.i@kqWwVr{eMNxOv}tfJXgh -372.i@kqWwVr{eMNxOv}tfJXgh -374.bcd; 82 83 84 670  func_directive:149.qrxty 33 \
34 35 36 246  _name:671 debug_name:248 debug_symbol:672.,} -37.,] -3.,] -4.,); -63.,; 673 674.,; 675 676.; \
677.qr(xvt 33 34 341 35 176 36  _name:180 arguments:678 name:679.i@kqWwVr{eMNxOv}tfJXgh -97.qrxvt 33 34 35 \
176 36  _name:180 name:680.i@kqWwVr{eMNxOv}tfJXgh -99.i@kqWwVr{eMNxOv}tfJXgh -100.,} -258.,} -255.,} -21.,; \
681 682.; 683.; 684.qrxvt 33 34 35 176 36  _name:180 name:685.i@kqWwVr{eMNxOv}tfJXgh \
-111.i@kqWwVr{eMNxOv}tfJXgh -112.i@kqWwVr{eMNxOv}tfJXgh -114.i@kqWwVr{eMNxOv}tfJXgh -373.,+ -125., \
686.qr(xvt 33 34 341 35 176 36  _name:180 arguments:687 name:688.i@kqWwVr{eMNxOv}tfJXgh -89.qrxvt 33 34 35 \
176 36  _name:180 name:689.i@kqWwVr{eMNxOv}tfJXgh -91.i@kqWwVr{eMNxOv}tfJXgh -92.,; 690 691.; 692.; \
693.qrxvt 33 34 35 176 36  _name:180 name:694.i@kqWwVr{eMNxOv}tfJXgh -103.i@kqWwVr{eMNxOv}tfJXgh \
-104.i@kqWwVr{eMNxOv}tfJXgh -106.; 695.u 696.,; 697 698.; 699.; 700.qrxvt 33 34 35 176 36  _name:180 \
name:701.i@kqWwVr{eMNxOv}tfJXgh -95.i@kqWwVr{eMNxOv}tfJXgh -96.i@kqWwVr{eMNxOv}tfJXgh -98.; \
702.i@kqWwVr{eMNxOv}tfJXgh -110.n 703.qrxvt 33 34 35 176 36  _name:180 name:704.i@kqWwVr{eMNxOv}tfJXgh \
-87.i@kqWwVr{eMNxOv}tfJXgh -88.i@kqWwVr{eMNxOv}tfJXgh -90.; 705.i@kqWwVr{eMNxOv}tfJXgh -102.n 706.; \
707.i@kqWwVr{eMNxOv}tfJXgh -94.n 708.i@kqWwVr{eMNxOv}tfJXgh -86.i@kqWwVr{eMNxOv}tfJXgh -41""".replace(".", "\n")
